// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/import_report.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::common {

// Why a node could not become operators of known kinds. A fault ends the import; any other obstacle
// makes the node a barrier.
struct Obstacle {
  std::string reason;  // "its indices are computed while the network runs"
  bool fault = false;
  std::string expected;
  std::string hint;
};
tl::unexpected<Obstacle> Barrier(std::string reason);
tl::unexpected<Obstacle> Fault(std::string message, std::string expected = "",
                               std::string hint = "");

using Outcome = tl::expected<void, Obstacle>;
using MadeTensor = tl::expected<int, Obstacle>;

// Converts the result of the last step of a translation, whose tensor is not used.
Outcome AsOutcome(const MadeTensor& made);

// The rounding of a conversion between real numbers and their quantised form, as far as the file
// states it.
struct Rounding {
  std::optional<std::vector<double>> scale;
  std::optional<std::vector<int64_t>> zero;
};

// A graph under construction, and the meaning of each name of the file: a feature tensor of the
// graph, or a constant. Constants enter the graph only if an operator reads them as weights.
class Draft {
 public:
  // The caller keeps names unique. A name can be bound once.
  int AddFeature(const std::string& name, Shape shape, base::DataType type);
  void BindConstant(const std::string& name, Constant constant);
  void BindFeature(const std::string& name, int tensor);
  void BindAlias(const std::string& name, const std::string& of);

  bool IsBound(const std::string& name) const { return values_.count(name) > 0; }
  bool IsConstant(const std::string& name) const { return values_.at(name).tensor < 0; }
  const Shape& ShapeOf(const std::string& name) const;
  base::DataType TypeOf(const std::string& name) const;
  // ConstantOf returns the value of a constant, or null for a feature. TensorOf returns the tensor
  // of a feature.
  const Constant* ConstantOf(const std::string& name) const;
  int TensorOf(const std::string& name) const { return values_.at(name).tensor; }

  // The tensor of a constant in the shape that its reader needs; readers with the same shape share
  // it.
  int WeightOf(const std::string& name, const Shape& shape);
  int WeightOf(const std::string& name) { return WeightOf(name, ShapeOf(name)); }

  // Adds the operator and makes its id unique. Returns its output, a feature with the name
  // `output`.
  int AddOperator(Operator op, const std::string& output, Shape shape, base::DataType type);
  void AddOperator(Operator op, std::vector<int> outputs);

  // The state of the draft before a node is added. Rewind removes all additions of the node,
  // including the values that it bound, so that the node can be added in another form. Cost: the
  // constants that operators read.
  struct Mark {
    size_t tensors = 0;
    size_t operators = 0;
    Report::Mark report;
  };
  Mark Here() const { return {graph.tensors.size(), graph.operators.size(), report.Here()}; }
  void Rewind(const Mark& mark, const Node& node);

  // The types that the file declares of values, with symbols replaced.
  std::map<std::string, ValueType> declared;

  // An unused tensor name: `wanted`, or `wanted` with a number.
  std::string FreeTensorName(const std::string& wanted) const;

  // The name must be unused.
  void Rename(int tensor, const std::string& name);

  const Tensor& TensorAt(int tensor) const { return graph.tensors[static_cast<size_t>(tensor)]; }
  Tensor& TensorAt(int tensor) { return graph.tensors[static_cast<size_t>(tensor)]; }

  Graph graph;
  Report report;
  std::map<std::string, Rounding> roundings;  // by the ids of conversions

 private:
  struct Value {
    int tensor = -1;
    std::string constant;  // key into constants_ if tensor is -1
  };
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, Constant> constants_;
  std::map<std::pair<std::string, Shape>, int> weights_;  // by constant and shape
  std::unordered_set<std::string> tensor_names_;
  std::unordered_set<std::string> operator_names_;
};

// One of the operators into which a node is translated.
struct Part {
  Operator op;  // attributes and weights set
  ops::Wanted wanted = {};
  std::vector<int> inputs = {};                       // feature tensors
  std::optional<base::DataType> type = std::nullopt;  // of the result; unset: of the first input
};

// A node that is being translated, with its operands by position. Translations check first and emit
// last: after the first operator is emitted only faults may follow.
class Translation {
 public:
  Translation(Draft& draft, const Node& node) : draft_(draft), node_(node) {}

  const Node& Source() const { return node_; }
  Draft& Target() { return draft_; }

  size_t Operands() const { return node_.inputs.size(); }
  bool Has(size_t i) const { return node_.HasInput(i); }
  bool IsFeature(size_t i) const { return Has(i) && !draft_.IsConstant(node_.inputs[i]); }
  bool IsConstant(size_t i) const { return Has(i) && draft_.IsConstant(node_.inputs[i]); }
  // By value, because emitting moves tensors.
  Shape ShapeOf(size_t i) const { return draft_.ShapeOf(node_.inputs[i]); }
  base::DataType TypeOf(size_t i) const { return draft_.TypeOf(node_.inputs[i]); }
  int Feature(size_t i) const { return draft_.TensorOf(node_.inputs[i]); }
  int Weight(size_t i) { return draft_.WeightOf(node_.inputs[i]); }
  int Weight(size_t i, const Shape& shape) { return draft_.WeightOf(node_.inputs[i], shape); }
  Shape ShapeOfTensor(int tensor) const { return draft_.TensorAt(tensor).shape; }

  // The values of an operand that the file states or that follow from it; nullopt if they are
  // unknown.
  std::optional<std::vector<int64_t>> Integers(size_t i) const;
  std::optional<std::vector<double>> Reals(size_t i) const;
  // Integers of an operand; the unknown ones are -1.
  std::optional<std::vector<int64_t>> Outline(size_t i) const;

  // Appends an operator and infers its shape. Without suffixes it has the node's name and makes its
  // first output.
  MadeTensor Emit(Part part, std::string_view op_suffix = "", std::string_view tensor_suffix = "");
  // Appends an operator that makes output `i` of a node with several outputs.
  MadeTensor EmitOutput(Part part, size_t i);

  // Returns the tensor in another shape with the same number of elements. Adds no operator if the
  // tensor has that shape already.
  MadeTensor Reshape(int tensor, const Shape& shape, std::string_view suffix);

  // Returns the tensor with leading axes added and axes of extent 1 repeated until it has `shape`.
  // With an empty suffix it is the node's first output.
  MadeTensor Broadcast(int tensor, const Shape& shape, std::string_view suffix);

  // Appends an opaque operator that reads its operand element by element, broadcast to `shape`, and
  // makes the node's first output.
  MadeTensor EmitGather(int indices, Shape shape, base::DataType type);

  // The shape that the file declares for output `i`; nullopt if it leaves extents open.
  std::optional<Shape> DeclaredShape(size_t i) const;

  // Makes the node's output `i` another name of a tensor or value.
  void BindOutput(size_t i, int tensor);

  // Makes the first output of a node without effect another name of `operand`, and reports the node
  // as dropped.
  void Drop(const std::string& operand, std::string why);

 private:
  std::string NameOfNode() const { return Report::NameOf(node_); }
  MadeTensor Append(Part part, std::string id, const std::string& output);

  Draft& draft_;
  const Node& node_;
};

// An axis, counted from the end if it is negative; nullopt if there is no such axis.
std::optional<int> AxisFrom(int64_t axis, size_t rank);

// "HardSwish" as "hard_swish": the notation for functions of elementwise operators.
std::string SnakeCase(std::string_view name);

}  // namespace tessera::graph::import::common

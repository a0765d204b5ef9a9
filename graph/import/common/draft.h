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

// Why a node became no operators of known kinds. A fault ends the import; anything else makes the
// node a barrier.
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

// For the last step of a translation, whose tensor nobody asks for.
Outcome AsOutcome(const MadeTensor& made);

// How a conversion between real numbers and their quantised form rounds, as far as the file says.
struct Rounding {
  std::optional<std::vector<double>> scale;
  std::optional<std::vector<int64_t>> zero;
};

// A graph in the making, and what each name of the file stands for: a feature tensor of that graph,
// or a constant. Constants enter the graph only where an operator takes them as weights.
class Draft {
 public:
  // Names are the caller's to keep unique; a name can be bound once.
  int AddFeature(const std::string& name, Shape shape, base::DataType type);
  void BindConstant(const std::string& name, Constant constant);
  void BindFeature(const std::string& name, int tensor);
  void BindAlias(const std::string& name, const std::string& of);

  bool IsBound(const std::string& name) const { return values_.count(name) > 0; }
  bool IsConstant(const std::string& name) const { return values_.at(name).tensor < 0; }
  const Shape& ShapeOf(const std::string& name) const;
  base::DataType TypeOf(const std::string& name) const;
  // Of a constant: its value, null for features. Of a feature: its tensor.
  const Constant* ConstantOf(const std::string& name) const;
  int TensorOf(const std::string& name) const { return values_.at(name).tensor; }

  // The tensor of a constant seen in the shape that its user needs; the same for all who see it so.
  int WeightOf(const std::string& name, const Shape& shape);
  int WeightOf(const std::string& name) { return WeightOf(name, ShapeOf(name)); }

  // Takes the operator in, its id made unique. Returns its output, a feature of that name.
  int AddOperator(Operator op, const std::string& output, Shape shape, base::DataType type);
  void AddOperator(Operator op, std::vector<int> outputs);

  // Before a node is taken: what the draft holds by then. Rewind takes out all that the node added
  // since, the values that it bound included, so that it can be taken in another way. Cost: the
  // constants that operators read.
  struct Mark {
    size_t tensors = 0;
    size_t operators = 0;
    Report::Mark report;
  };
  Mark Here() const { return {graph.tensors.size(), graph.operators.size(), report.Here()}; }
  void Rewind(const Mark& mark, const Node& node);

  // What the file declares of a value, symbols replaced.
  std::map<std::string, ValueType> declared;

  // A name that no tensor has: `wanted`, or else `wanted` with a number.
  std::string FreeTensorName(const std::string& wanted) const;

  // The name must be free.
  void Rename(int tensor, const std::string& name);

  const Tensor& TensorAt(int tensor) const { return graph.tensors[static_cast<size_t>(tensor)]; }
  Tensor& TensorAt(int tensor) { return graph.tensors[static_cast<size_t>(tensor)]; }

  Graph graph;
  Report report;
  std::map<std::string, Rounding> roundings;  // by the ids of conversions

 private:
  struct Value {
    int tensor = -1;
    std::string constant;  // key into constants_, where tensor is -1
  };
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, Constant> constants_;
  std::map<std::pair<std::string, Shape>, int> weights_;  // by constant and shape
  std::unordered_set<std::string> tensor_names_;
  std::unordered_set<std::string> operator_names_;
};

// One operator of what a node becomes.
struct Part {
  Operator op;  // attributes and weights set
  ops::Wanted wanted = {};
  std::vector<int> inputs = {};                       // feature tensors
  std::optional<base::DataType> type = std::nullopt;  // of the result; none: of the first input
};

// A node on its way into the draft, with its operands by position. Translations look first and emit
// last: once something is emitted only faults may follow.
class Translation {
 public:
  Translation(Draft& draft, const Node& node) : draft_(draft), node_(node) {}

  const Node& Source() const { return node_; }
  Draft& Target() { return draft_; }

  size_t Operands() const { return node_.inputs.size(); }
  bool Has(size_t i) const { return node_.HasInput(i); }
  bool IsFeature(size_t i) const { return Has(i) && !draft_.IsConstant(node_.inputs[i]); }
  bool IsConstant(size_t i) const { return Has(i) && draft_.IsConstant(node_.inputs[i]); }
  // By value: emitting moves tensors.
  Shape ShapeOf(size_t i) const { return draft_.ShapeOf(node_.inputs[i]); }
  base::DataType TypeOf(size_t i) const { return draft_.TypeOf(node_.inputs[i]); }
  int Feature(size_t i) const { return draft_.TensorOf(node_.inputs[i]); }
  int Weight(size_t i) { return draft_.WeightOf(node_.inputs[i]); }
  int Weight(size_t i, const Shape& shape) { return draft_.WeightOf(node_.inputs[i], shape); }
  Shape ShapeOfTensor(int tensor) const { return draft_.TensorAt(tensor).shape; }

  // Integers that the file states, or that follow from what it states: of an operand, or of an
  // attribute of old operator sets.
  std::optional<std::vector<int64_t>> Integers(size_t i) const;
  std::optional<std::vector<double>> Reals(size_t i) const;
  // Integers of an operand some of which are missing, -1 for those.
  std::optional<std::vector<int64_t>> Outline(size_t i) const;

  // Appends an operator, its shape inferred. Without suffixes it has the node's name and makes its
  // first output.
  MadeTensor Emit(Part part, std::string_view op_suffix = "", std::string_view tensor_suffix = "");
  // One that makes output `i` of a node with several.
  MadeTensor EmitOutput(Part part, size_t i);

  // The tensor in another shape of as many elements; no operator where it has that shape.
  MadeTensor Reshape(int tensor, const Shape& shape, std::string_view suffix);

  // The tensor repeated along axes of extent 1, and given leading ones, until it has `shape`. With
  // an empty suffix, the node's first output.
  MadeTensor Broadcast(int tensor, const Shape& shape, std::string_view suffix);

  // An opaque operator that reads its operand element by element, broadcast to `shape`. It makes
  // the node's first output.
  MadeTensor EmitGather(int indices, Shape shape, base::DataType type);

  // The shape that the file declares of output `i`; none where it leaves extents open.
  std::optional<Shape> DeclaredShape(size_t i) const;

  // Makes the node's output `i` another name of a tensor or value.
  void BindOutput(size_t i, int tensor);

  // As BindOutput, where the node turned out to do nothing; reported as dropped.
  void Drop(const std::string& operand, std::string why);

 private:
  std::string NameOfNode() const { return Report::NameOf(node_); }
  MadeTensor Append(Part part, std::string id, const std::string& output);

  Draft& draft_;
  const Node& node_;
};

// An axis counted from the end where it is negative; none where there is no such axis.
std::optional<int> AxisFrom(int64_t axis, size_t rank);

// "HardSwish" as "hard_swish": how functions of elementwise operators are written.
std::string SnakeCase(std::string_view name);

}  // namespace tessera::graph::import::common

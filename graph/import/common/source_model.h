// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"

// An ONNX model in plain values: the data of its protobuf messages that import needs, so that few
// files depend on those.
namespace tessera::graph::import::common {

// A tensor with known extents (0 is possible). Values are present if the file has them in full,
// they are few, and reading them required only their number. Large weights, external data and
// invalid bytes have no values.
struct Constant {
  Shape shape;
  base::DataType type = base::DataType::kFloat32;
  std::optional<std::vector<int64_t>> integers;  // of integer and Boolean types
  std::optional<std::vector<double>> reals;      // of floating-point types
  // A list of integers with some unknown ones, which are -1.
  std::optional<std::vector<int64_t>> outline;
};

// A constant with more integers than this is a weight, not a shape.
inline constexpr int64_t kMostValues = 65536;

// The maximum number of repeats of one axis: each is an index of a gather.
inline constexpr int64_t kMostRepeats = int64_t{1} << 20;

// The static knowledge about a tensor.
struct ValueType {
  std::optional<Shape> shape;
  std::optional<base::DataType> type;
};

// std::monostate: a graph, or another value that no operator here reads.
using Attribute = std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Constant>;

// An operator of the file. Names are those of values; an optional input that is left out is empty.
struct Node {
  int index = 0;  // in the file
  std::string name;
  std::string type;     // "Conv"
  std::string domain;   // empty for ONNX's own operators
  int64_t version = 0;  // of the operator set that defines it
  bool known = false;   // the ONNX library has the operator in exactly this version
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> captured;  // values of this graph that the graphs inside the node read
  std::map<std::string, Attribute> attributes;
  // Attributes that no operator here reads, as text: "x-doc_string", and attributes that the
  // operator's definition does not have.
  std::map<std::string, std::string> annotations;

  bool HasInput(size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  bool HasOutput(size_t i) const { return i < outputs.size() && !outputs[i].empty(); }

  // Whether the attribute, if the node has it, is the one in the definition of this operator type.
  // Others belong to the user.
  bool Defines(std::string_view key) const {
    return !known || annotations.count("x-" + std::string(key)) == 0;
  }

  // The value of an attribute, or `otherwise` if it is left out or has another type.
  template <typename T>
  T Get(std::string_view key, T otherwise) const {
    const auto found = attributes.find(std::string(key));
    const T* value = found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
    return value == nullptr ? otherwise : *value;
  }
  int64_t Int(std::string_view key, int64_t otherwise) const {
    return Get<int64_t>(key, otherwise);
  }
  bool Flag(std::string_view key) const { return Int(key, 0) != 0; }

  // Whether an operator that behaves differently in training, such as Dropout, works as in
  // training. Before version 7 it does so unless the attribute 'is_test' is set; later versions do
  // not have the attribute.
  bool LacksTestMode() const { return version < 7 && !Flag("is_test"); }

  std::string Text(std::string_view key, const std::string& otherwise = "") const {
    return Get<std::string>(key, otherwise);
  }
  std::vector<int64_t> Ints(std::string_view key) const {
    return Get<std::vector<int64_t>>(key, {});
  }
};

// A declared extent: a number, a symbol, or neither.
struct Dimension {
  std::optional<int64_t> extent;
  std::string symbol;
};

// A declared value: a network input or output, or an inner value of the file's value_info.
struct Declaration {
  std::string name;
  std::optional<std::vector<Dimension>> shape;
  std::optional<base::DataType> type;
  std::string doc;
};

struct Model {
  std::string name;
  std::string doc;
  std::map<std::string, std::string> metadata;
  std::vector<Declaration> inputs;  // without initializers
  std::vector<Declaration> outputs;
  std::map<std::string, Declaration> inner;  // value_info
  std::map<std::string, Constant> constants;
  std::map<std::string, std::string> constant_docs;
  std::vector<Node> nodes;  // in an order in which each input is made before it is read
};

// A fault of the file as a whole.
base::Unexpected FileFault(const std::string& file, std::string message, std::string expected,
                           std::string hint = "");

// A fault of one node.
base::Diagnostic FaultAt(const std::string& file, const Node& node, std::string message,
                         std::string expected = "", std::string hint = "");

// "operator 'conv1' (Conv)"; a node without a name is named by its first output.
std::string Describe(const Node& node);

// Puts the nodes in the order nearest to the file's in which each value is made before it is read.
// Refuses values that are made twice or never, and cycles.
base::Expected<void> OrderNodes(Model& model, const std::string& file);

// The types that a file declares of its values after symbols are replaced by extents, by name.
// Inputs are complete. For others an open extent leaves the shape open.
using Declared = std::map<std::string, ValueType>;

// Gives each symbolic dimension of the inputs its extent from `dims`. Refuses inputs with an extent
// that stays open, naming all of them, and entries of `dims` that match no dimension.
base::Expected<Declared> ResolveDimensions(const Model& model,
                                           const std::map<std::string, int64_t>& dims,
                                           const std::string& file);

}  // namespace tessera::graph::import::common

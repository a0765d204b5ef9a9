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

// An ONNX model in plain values: what import needs of its protobuf messages, so that few files see
// those.
namespace tessera::graph::import::common {

// A tensor of known extents (0 is possible). Values are there when the file has them in full, they
// are few, and nothing but their number was needed to read them: large weights, external data and
// meaningless bytes have none.
struct Constant {
  Shape shape;
  base::DataType type = base::DataType::kFloat32;
  std::optional<std::vector<int64_t>> integers;  // of integer and Boolean types
  std::optional<std::vector<double>> reals;      // of floating-point types
  // Of a list of integers some of which are missing: -1 for those.
  std::optional<std::vector<int64_t>> outline;
};

// Integers of the file beyond this many are weights, not shapes.
inline constexpr int64_t kMostValues = 65536;

// Repeats of one axis: each is an index of a gather.
inline constexpr int64_t kMostRepeats = int64_t{1} << 20;

// What is known of a tensor before anything runs.
struct ValueType {
  std::optional<Shape> shape;
  std::optional<base::DataType> type;
};

// std::monostate: a graph, or another thing that no operator here reads.
using Attribute = std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Constant>;

// An operator of the file. Names are of values; an optional input that is left out is empty.
struct Node {
  int index = 0;  // in the file
  std::string name;
  std::string type;     // "Conv"
  std::string domain;   // empty for ONNX's own operators
  int64_t version = 0;  // of the operator set that it comes from
  bool known = false;   // the ONNX library has the operator in this very version
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> captured;  // values of this graph that the graphs inside the node read
  std::map<std::string, Attribute> attributes;
  // What no operator here reads, as text: "x-doc_string", and attributes that the operator's
  // definition does not have.
  std::map<std::string, std::string> annotations;

  bool HasInput(size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  bool HasOutput(size_t i) const { return i < outputs.size() && !outputs[i].empty(); }

  // Whether the attribute, where the node has it, means what operators of this type mean by it.
  // Others are the user's own.
  bool Defines(std::string_view key) const {
    return !known || annotations.count("x-" + std::string(key)) == 0;
  }

  // An attribute's value, or `otherwise` where it is left out or of another type.
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
  std::string Text(std::string_view key, const std::string& otherwise = "") const {
    return Get<std::string>(key, otherwise);
  }
  std::vector<int64_t> Ints(std::string_view key) const {
    return Get<std::vector<int64_t>>(key, {});
  }
};

// An extent as declared: a number, a symbol, or neither.
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
  std::vector<Declaration> inputs;  // initializers left out
  std::vector<Declaration> outputs;
  std::map<std::string, Declaration> inner;  // value_info
  std::map<std::string, Constant> constants;
  std::map<std::string, std::string> constant_docs;
  std::vector<Node> nodes;  // in an order in which each input is made before
};

// A fault of the file as a whole.
base::Unexpected FileFault(const std::string& file, std::string message, std::string expected,
                           std::string hint = "");

// A fault of one node.
base::Diagnostic FaultAt(const std::string& file, const Node& node, std::string message,
                         std::string expected = "", std::string hint = "");

// "operator 'conv1' (Conv)"; a node without a name goes by its first output.
std::string Describe(const Node& node);

// Puts the nodes in the order nearest to the file's in which each value is made before it is read.
// Refuses values that are made twice or by nobody, and cycles.
base::Expected<void> OrderNodes(Model& model, const std::string& file);

// What a file declares of its values once symbols have their extents, by name. Inputs are complete;
// of others an open extent leaves the shape open.
using Declared = std::map<std::string, ValueType>;

// Gives each symbolic dimension of the inputs its extent from `dims`. Refuses inputs that keep an
// open one, naming all of them, and entries of `dims` that no dimension has.
base::Expected<Declared> ResolveDimensions(const Model& model,
                                           const std::map<std::string, int64_t>& dims,
                                           const std::string& file);

}  // namespace tessera::graph::import::common

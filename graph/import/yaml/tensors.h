#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::yaml {

// An operator of a file on its way into the graph. Tensors are named by index into `made`, which
// precedes their place in the graph.
struct OperatorDraft {
  base::YamlNode entry;
  Operator op;
  ops::Wanted wanted;
  std::vector<Tensor> made;           // its outputs
  std::vector<std::string> operands;  // names of its inputs
  std::vector<Shape> operand_shapes;
  std::optional<Shape> own_weight;  // the shape of the weight that belongs to it
  base::DataType weight_type = base::DataType::kInt8;
};

// A name as faults show it.
inline std::string InQuotes(const std::string& name) { return "'" + name + "'"; }

// The "x-..." keys of a map with their text.
std::map<std::string, std::string> ReadAnnotations(const base::YamlNode& node);

// The data type named here, or `otherwise` where none is.
base::DataType ReadType(const base::YamlNode& node, base::DataType otherwise);

// A list of extents, each from 1 to 2^56, whose product is at most 2^56.
Shape ReadShape(const base::YamlNode& node);

// A tensor with its id, shape, data type and annotations: {id: x, shape: [1, 8], dtype: int8}, or,
// of uint8, {id: x, bytes: 8} where `bytes` are allowed. The caller checks the keys.
Tensor ReadTensor(const base::YamlNode& entry, base::DataType default_type);

// States, and under `next` the name that each has in the next run.
using NextValues = std::vector<std::pair<int, base::YamlNode>>;

// Links each state with its next value: the result of an operator, of the state's type, which is
// that of no other. Complains of the first that is not. `tensors` are those with a place in the
// graph, by name.
void LinkStates(const NextValues& next_values, const std::map<std::string, int>& tensors,
                Graph& graph);

// Gives each operator the constants that its entry names under `weights`, or the weight of its own,
// which is called "<id>.weights". `drafts` are parallel to the graph's operators, `index_of` knows
// all its tensors. Complains of names that are no weights, and of weights that do not fit; stops at
// the first.
void ConnectWeights(std::span<const OperatorDraft> drafts,
                    const std::map<std::string, int>& index_of, Graph& graph);

}  // namespace tessera::graph::import::yaml

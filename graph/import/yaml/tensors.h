// SPDX-License-Identifier: Apache-2.0

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

// An operator of a file that is being added to the graph. Tensors are named by index into `made`
// until they have an index in the graph.
struct OperatorDraft {
  base::YamlNode entry;
  Operator op;
  ops::Wanted wanted;
  std::vector<Tensor> made;           // its outputs
  std::vector<std::string> operands;  // names of its inputs
  std::vector<Shape> operand_shapes;
  std::optional<Shape> own_weight;  // the shape of the operator's own weight
  base::DataType weight_type = base::DataType::kInt8;
};

// A name as shown in faults.
inline std::string InQuotes(const std::string& name) { return "'" + name + "'"; }

// The "x-..." keys of a map with their text.
std::map<std::string, std::string> ReadAnnotations(const base::YamlNode& node);

// The data type that the node names, or `otherwise` if it names none.
base::DataType ReadType(const base::YamlNode& node, base::DataType otherwise);

// A list of extents, each from 1 to 2^56, whose product is at most 2^56.
Shape ReadShape(const base::YamlNode& node);

// A tensor with its id, shape, data type and annotations: {id: x, shape: [1, 8], dtype: int8} or,
// for uint8, {id: x, bytes: 8} if `bytes` are allowed. The caller checks the keys.
Tensor ReadTensor(const base::YamlNode& entry, base::DataType default_type);

// States with the `next` key that names their value in the next run.
using NextValues = std::vector<std::pair<int, base::YamlNode>>;

// Links each state with its next value: the result of an operator, of the state's type, that is the
// next value of no other state. Complains about the first violation. `tensors` are those with an
// index in the graph, by name.
void LinkStates(const NextValues& next_values, const std::map<std::string, int>& tensors,
                Graph& graph);

// Gives each operator the constants that its entry names under `weights`, or its own weight, which
// is named "<id>.weights". `drafts` are parallel to the graph's operators, `index_of` has all its
// tensors. Complains about names that are not weights, and about weights that do not fit; stops at
// the first fault.
void ConnectWeights(std::span<const OperatorDraft> drafts,
                    const std::map<std::string, int>& index_of, Graph& graph);

}  // namespace tessera::graph::import::yaml

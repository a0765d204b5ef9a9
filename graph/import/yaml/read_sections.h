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
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/shape_inference.h"

// The readers of the sections of a network file: tensors, then attributes of operators.
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

// Reads the attributes of op.kind from an entry of `operators` into `op` and `wanted`. Complains
// about keys that the kind does not have. `operands` is the number of feature operands.
void ReadAttributes(const base::YamlNode& entry, size_t operands, Operator& op,
                    ops::Wanted& wanted);

// Complains if the description of an opaque operator does not match the shapes of its operands and
// its output.
void CheckAccesses(const base::YamlNode& entry, const Operator& op,
                   const std::vector<Shape>& operands, const std::vector<Tensor>& made);

// Complains if the data type of the result cannot hold the indices that the operator makes.
void CheckIndices(const base::YamlNode& entry, const Operator& op,
                  const std::vector<Shape>& operands, base::DataType type);

// Reads the measurements of tiles of an operator whose first output has the shape `made`.
void ReadMeasured(const base::YamlNode& entry, const Shape& made, Operator& op);

// The access to an operand: "full", "elementwise", or a window {kernel: 3, stride: 1, pads: [1, 1],
// every_channel: true}.
OperandAccess ReadAccess(const base::YamlNode& node);

}  // namespace tessera::graph::import::yaml

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/definition.h"

namespace tessera::graph::import::yaml {

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

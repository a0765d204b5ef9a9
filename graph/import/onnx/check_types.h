// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/source_model.h"

namespace onnx {
class GraphProto;
}

namespace tessera::graph::import::onnx {

// Refuses a graph in which an operand or a result has an element type that the definition of its
// operator, or the file itself, rules out. `nodes` are those of the graph, operands before the
// operators that read them. Operators that the library does not know, and values that are no
// tensors, are not checked. Cost: linear in the operands and results.
base::Expected<void> CheckElementTypes(const ::onnx::GraphProto& graph,
                                       const std::vector<common::Node>& nodes,
                                       const std::string& file);

}  // namespace tessera::graph::import::onnx

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/model_file.h"

namespace onnx {
class GraphProto;
}

// For the sources that use protobuf. It is slow to compile, so include it nowhere else.
namespace tessera::graph::import::onnx {

struct ModelFile::Message {
  // Inference requires mutable nodes, but does not change them.
  mutable ::onnx::ModelProto model;
  std::unordered_map<std::string, int> versions;  // of operator sets, by domain
};

// Tensors and attributes of protobuf messages as plain values. Faults name `file` and what was
// found.

// The result has values if they are few and as many as the extents imply.
base::Expected<common::Constant> ReadConstant(const ::onnx::TensorProto& tensor,
                                              const std::string& name, const std::string& file);

// Reads only extents and type, because the number and the positions of nonzero values do not affect
// plans.
base::Expected<common::Constant> ReadSparseConstant(const ::onnx::SparseTensorProto& tensor,
                                                    const std::string& name,
                                                    const std::string& file);

// Strings have no type here. A constant of strings, like a graph, cannot be used.
base::Expected<common::Attribute> ReadAttribute(const ::onnx::AttributeProto& attribute,
                                                const std::string& file);

// nullopt for graphs, tensors and values that are not text.
std::optional<std::string> TextOf(const common::Attribute& attribute);

// Refuses a graph in which an operand or a result has an element type that the definition of its
// operator, or the file itself, rules out. `nodes` are those of the graph, operands before the
// operators that read them. Operators that the library does not know, and values that are no
// tensors, are not checked. Cost: linear in the operands and results.
base::Expected<void> CheckElementTypes(const ::onnx::GraphProto& graph,
                                       const std::vector<common::Node>& nodes,
                                       const std::string& file);

}  // namespace tessera::graph::import::onnx

#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/model_file.h"

// For the sources that see protobuf; slow to compile, so include it nowhere else.
namespace tessera::graph::import::onnx {

struct ModelFile::Message {
  // Inference asks for mutable nodes, yet changes none.
  mutable ::onnx::ModelProto model;
  std::unordered_map<std::string, int> versions;  // of operator sets, by domain
};

// Tensors and attributes of protobuf messages as plain values. Faults name `file` and what they
// found.

// With values where there are few, and as many as the extents say.
base::Expected<common::Constant> ReadConstant(const ::onnx::TensorProto& tensor,
                                              const std::string& name, const std::string& file);

// Its extents and type alone: what is not zero, and where, changes no plan.
base::Expected<common::Constant> ReadSparseConstant(const ::onnx::SparseTensorProto& tensor,
                                                    const std::string& name,
                                                    const std::string& file);

// Strings have no type here: a constant of strings, like a graph, is one that nobody can use.
base::Expected<common::Attribute> ReadAttribute(const ::onnx::AttributeProto& attribute,
                                                const std::string& file);

// None for graphs, tensors and what is no text.
std::optional<std::string> TextOf(const common::Attribute& attribute);

}  // namespace tessera::graph::import::onnx

#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/model.h"

// Tensors and attributes of protobuf messages as plain values. Faults name `file` and what they found.
namespace tessera::graph::onnx {

// With values where there are few, and as many as the extents say.
base::Expected<Constant> ReadConstant(const ::onnx::TensorProto& tensor, const std::string& name,
                                      const std::string& file);

// Its extents and type alone: what is not zero, and where, changes no plan.
base::Expected<Constant> ReadSparseConstant(const ::onnx::SparseTensorProto& tensor, const std::string& name,
                                            const std::string& file);

// Strings have no type here: a constant of strings, like a graph, is one that nobody can use.
base::Expected<Attribute> ReadAttribute(const ::onnx::AttributeProto& attribute, const std::string& file);

// None for graphs, tensors and what is no text.
std::optional<std::string> TextOf(const Attribute& attribute);

}  // namespace tessera::graph::onnx

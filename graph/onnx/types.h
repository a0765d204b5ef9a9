#pragma once

#include <cstdint>
#include <optional>

#include "tessera/base/vocabulary.h"

namespace tessera::graph::onnx {

// The data type that ONNX numbers so (TensorProto.DataType); none for text, complex numbers and floats of 8 bits. Unsigned integers
// of 16 bits and more become the signed ones of their width.
std::optional<base::DataType> TypeFromOnnx(int64_t number);
int32_t TypeToOnnx(base::DataType type);

bool IsFloating(base::DataType type);

}  // namespace tessera::graph::onnx

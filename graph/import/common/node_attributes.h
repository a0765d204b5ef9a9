#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::common {

// The data type that ONNX numbers so (TensorProto.DataType); none for text, complex numbers and
// floats of 8 bits. Unsigned integers of 16 bits and more become the signed ones of their width.
std::optional<base::DataType> TypeFromOnnx(int64_t number);
int32_t TypeToOnnx(base::DataType type);

bool IsFloating(base::DataType type);

// What a Slice takes along each axis: output index x is input starts + x * steps.
struct Cut {
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;  // any but 0
  Shape shape;                 // extents may be 0
};

// The integers of an operand, where they are known.
using IntegersOf = std::function<std::optional<std::vector<int64_t>>(size_t operand)>;

// Reads a Slice of any version and clamps its bounds as ONNX defines.
tl::expected<Cut, Obstacle> ReadCut(const Node& node, const Shape& input,
                                    const IntegersOf& integers);

// The axes of the input in the order that a Transpose states, or that of all axes reversed where it
// states none. A fault where they are not each axis once.
tl::expected<std::vector<int>, Obstacle> ReadPermutation(const Node& node, size_t rank);

}  // namespace tessera::graph::import::common

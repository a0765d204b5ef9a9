// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::common {

// The data type with this number in ONNX (TensorProto.DataType); nullopt for text, complex numbers
// and 8-bit floats. Unsigned integers of 16 bits and more become the signed ones of their width.
std::optional<base::DataType> TypeFromOnnx(int64_t number);
int32_t TypeToOnnx(base::DataType type);

bool IsFloating(base::DataType type);

// The part that a Slice takes along each axis: output index x is input starts + x * steps.
struct Cut {
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;  // never 0
  Shape shape;                 // extents may be 0
};

// The integers of an operand, if they are known.
using IntegersOf = std::function<std::optional<std::vector<int64_t>>(size_t operand)>;

// Reads a Slice of any version and clamps its bounds as ONNX defines.
tl::expected<Cut, Obstacle> ReadCut(const Node& node, const Shape& input,
                                    const IntegersOf& integers);

// The axes of the input in the order that a Transpose states, or all axes reversed if it states
// none. A fault if they are not each axis once.
tl::expected<std::vector<int>, Obstacle> ReadPermutation(const Node& node, size_t rank);

}  // namespace tessera::graph::import::common

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/onnx/fold/fold.h"

// What the rules of folding share: reading operands, making constants, and places of elements.
namespace tessera::graph::onnx {

using Operands = std::vector<Known>;
using Folded = std::optional<Constant>;
using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

bool HasConstant(const Operands& operands, size_t i);

// None where the operand is no constant of integers whose values are known.
std::optional<Integers> IntegersAt(const Operands& operands, size_t i);

const Shape& ShapeAt(const Operands& operands, size_t i);

Constant FromIntegers(Shape shape, base::DataType type, Integers values);
Constant FromReals(Shape shape, base::DataType type, Reals values);

// A constant of which only shape and type are known.
Constant WithoutValues(Shape shape, base::DataType type);

// Few enough elements, at most kMostValues, to have values.
bool IsSmall(const Shape& shape);

// Distances between neighbours along each axis, row-major.
std::vector<int64_t> StridesOf(const Shape& shape);

// The elements at `places` of one operand, in a new shape; none where they are not known.
Folded Rearranged(const Constant& from, Shape shape, const Integers& places);

// The places of an operand that broadcasting to `shape` reads; small shapes only.
Integers PlacesOfBroadcast(const Shape& from, const Shape& shape);

// For each index of `shape`, small, in row-major order: the place offset + sum of index * step.
Integers PlacesAlong(const Shape& shape, const std::vector<int64_t>& steps, int64_t offset = 0);

}  // namespace tessera::graph::onnx

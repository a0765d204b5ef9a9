// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::common::fold {

// The known properties of an operand: a constant, or the shape of a feature, or neither if the
// operand is left out.
struct Known {
  const Constant* constant = nullptr;
  const Shape* shape = nullptr;
};

// The outputs of a node that follow from constants and shapes alone, by ONNX's definition. nullopt
// if they do not, if values are missing, or if the operator is not arithmetic on shapes.
std::optional<std::vector<Constant>> Fold(const Node& node, const std::vector<Known>& operands);

// Shared by the rules of folding: reading operands, making constants, and positions of elements.

using Operands = std::vector<Known>;
using Folded = std::optional<Constant>;
using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

bool HasConstant(const Operands& operands, size_t i);

// nullopt if the operand is not a constant of integers with known values.
std::optional<Integers> IntegersAt(const Operands& operands, size_t i);

const Shape& ShapeAt(const Operands& operands, size_t i);

Constant FromIntegers(Shape shape, base::DataType type, Integers values);
Constant FromReals(Shape shape, base::DataType type, Reals values);

// A constant with known shape and type and unknown values.
Constant WithoutValues(Shape shape, base::DataType type);

// Whether the number of elements is at most kMostValues, so that values are stored.
bool IsSmall(const Shape& shape);

// Distances between neighbours along each axis, row-major.
std::vector<int64_t> StridesOf(const Shape& shape);

// The elements at `places` of one operand, in a new shape; nullopt if they are unknown.
Folded Rearranged(const Constant& from, Shape shape, const Integers& places);

// The positions of an operand that broadcasting to `shape` reads; small shapes only.
Integers PlacesOfBroadcast(const Shape& from, const Shape& shape);

// For each index of `shape` (small) in row-major order: the position offset + sum of index * step.
Integers PlacesAlong(const Shape& shape, const std::vector<int64_t>& steps, int64_t offset = 0);

// One rule per operator. All but FoldShape, FoldSize and FoldConstant require that every operand of
// the node is a constant and that there is a first one.

// Values that come from shapes and attributes.
Folded FoldShape(const Node& node, const Operands& operands);
Folded FoldSize(const Node& node, const Operands& operands);
Folded FoldConstant(const Node& node, const Operands& operands);
Folded FoldConstantOfShape(const Node& node, const Operands& operands);
Folded FoldRange(const Node& node, const Operands& operands);

// The same values in other positions.
Folded FoldIdentity(const Node& node, const Operands& operands);
Folded FoldSqueeze(const Node& node, const Operands& operands);
Folded FoldUnsqueeze(const Node& node, const Operands& operands);
Folded FoldReshape(const Node& node, const Operands& operands);
Folded FoldFlatten(const Node& node, const Operands& operands);
Folded FoldTranspose(const Node& node, const Operands& operands);
Folded FoldGather(const Node& node, const Operands& operands);
Folded FoldSlice(const Node& node, const Operands& operands);
Folded FoldExpand(const Node& node, const Operands& operands);
// For constants with one axis, such as shapes.
Folded FoldConcat(const Node& node, const Operands& operands);
std::optional<std::vector<Constant>> FoldSplit(const Node& node, const Operands& operands);

// Computed values: elementwise operators with any number of operands; nullopt for a type that is
// not among them.
Folded FoldArithmetic(const Node& node, const Operands& operands);
Folded FoldCast(const Node& node, const Operands& operands);
Folded FoldWhere(const Node& node, const Operands& operands);
// Over all elements of a list, for example for the number of elements of a shape.
Folded FoldReduce(const Node& node, const Operands& operands);

}  // namespace tessera::graph::import::common::fold

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::common::fold {

// What folding knows of an operand: a constant, or the shape of a feature, or neither where it is
// left out.
struct Known {
  const Constant* constant = nullptr;
  const Shape* shape = nullptr;
};

// The outputs of a node that follow from constants and from shapes alone, by ONNX's definition;
// none where they do not, where values are missing, or where the operator is no arithmetic on
// shapes.
std::optional<std::vector<Constant>> Fold(const Node& node, const std::vector<Known>& operands);

// What the rules of folding share: reading operands, making constants, and places of elements.

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

// One rule an operator. All but FoldShape, FoldSize and FoldConstant want a constant in every
// operand that the node has, the first among them.

// Values that come from shapes and attributes.
Folded FoldShape(const Node& node, const Operands& operands);
Folded FoldSize(const Node& node, const Operands& operands);
Folded FoldConstant(const Node& node, const Operands& operands);
Folded FoldConstantOfShape(const Node& node, const Operands& operands);
Folded FoldRange(const Node& node, const Operands& operands);

// The same values in other places.
Folded FoldIdentity(const Node& node, const Operands& operands);
Folded FoldSqueeze(const Node& node, const Operands& operands);
Folded FoldUnsqueeze(const Node& node, const Operands& operands);
Folded FoldReshape(const Node& node, const Operands& operands);
Folded FoldFlatten(const Node& node, const Operands& operands);
Folded FoldTranspose(const Node& node, const Operands& operands);
Folded FoldGather(const Node& node, const Operands& operands);
Folded FoldSlice(const Node& node, const Operands& operands);
Folded FoldExpand(const Node& node, const Operands& operands);
// Of constants of one axis, as shapes are.
Folded FoldConcat(const Node& node, const Operands& operands);
std::optional<std::vector<Constant>> FoldSplit(const Node& node, const Operands& operands);

// Other values: operators element by element, of any number of operands; none for a type that is
// not among them.
Folded FoldArithmetic(const Node& node, const Operands& operands);
Folded FoldCast(const Node& node, const Operands& operands);
Folded FoldWhere(const Node& node, const Operands& operands);
// Over all elements of a list, as for the number of elements of a shape.
Folded FoldReduce(const Node& node, const Operands& operands);

}  // namespace tessera::graph::import::common::fold

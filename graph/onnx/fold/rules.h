#pragma once

#include "tessera/graph/onnx/fold/operands.h"

// One rule an operator. All but FoldShape, FoldSize and FoldConstant want a constant in every operand that the node has,
// the first among them.
namespace tessera::graph::onnx {

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

// Other values: operators element by element, of any number of operands; none for a type that is not among them.
Folded FoldArithmetic(const Node& node, const Operands& operands);
Folded FoldCast(const Node& node, const Operands& operands);
Folded FoldWhere(const Node& node, const Operands& operands);
// Over all elements of a list, as for the number of elements of a shape.
Folded FoldReduce(const Node& node, const Operands& operands);

}  // namespace tessera::graph::onnx

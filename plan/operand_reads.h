#pragma once

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"

// Which elements of its operands an operator reads, by the definition of each kind.
namespace tessera::plan {

// The least box that contains every element of op.inputs[operand] that is read to compute the
// elements `output` of op.outputs[0]. Empty if no element is read (a branch of a concatenation, a
// window wholly in padding). Cost: the output indices along each axis, times the window.
Box NeedOf(const graph::Graph& graph, const graph::Operator& op, size_t operand, const Box& output);

// These elements themselves. Windows also name the taps in the padding, at indices outside the
// tensor. Cost: as NeedOf; the elements, if the kind mixes axes.
ElementSet ReadsOfInput(const graph::Graph& graph, const graph::Operator& op, size_t operand,
                        const Box& output);

// Kinds that mix axes (mixed_reads.cc). `output` is not empty; `in` and `out` are the shapes of the
// operand and of op.outputs[0].
Box ReshapeNeed(const graph::Shape& in, const graph::Shape& out, const Box& output);
Box DepthToSpaceNeed(const graph::Operator& op, const graph::Shape& in, const graph::Shape& out,
                     const Box& output);
Box SpaceToDepthNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);
ElementSet ReshapeReads(const graph::Shape& in, const graph::Shape& out, const Box& output);
ElementSet DepthToSpaceReads(const graph::Operator& op, const graph::Shape& in,
                             const graph::Shape& out, const Box& output);
ElementSet SpaceToDepthReads(const graph::Operator& op, const graph::Shape& in,
                             const graph::Shape& out, const Box& output);

}  // namespace tessera::plan

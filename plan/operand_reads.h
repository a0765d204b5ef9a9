#pragma once

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"

// Which elements of its operands an operator reads, by the definition of each kind
// (graph/ops/reading.h), and by no interval arithmetic.
namespace tessera::plan {

// The least box that contains every element of op.inputs[operand] that is read to compute the
// elements `output` of op.outputs[0]. Empty if no element is read (a branch of a concatenation, a
// window wholly in padding). Cost: the output indices along each axis, times the window.
Box NeedOf(const graph::Graph& graph, const graph::Operator& op, size_t operand, const Box& output);

// These elements themselves. Windows also name the taps in the padding, at indices outside the
// tensor. Cost: as NeedOf; the elements, if the kind mixes axes.
ElementSet ReadsOfInput(const graph::Graph& graph, const graph::Operator& op, size_t operand,
                        const Box& output);

}  // namespace tessera::plan

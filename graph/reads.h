// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/region.h"

// The reads of an operator of a graph, from the definition of its kind, index by index
// (ops/reading.h). It shares nothing with regions.h, whose closed forms it checks.
namespace tessera::graph {

// The least box that contains every element of op.inputs[operand] that is read to compute the
// elements `output` of op.outputs[0]. Empty if no element is read (a branch of a concatenation, a
// window wholly in padding). Cost: the output indices along each axis, times the window.
ops::Box HullOfReads(const Graph& graph, const Operator& op, size_t operand,
                     const ops::Box& output);

// The elements that are read: a product of ascending lists, one for each axis, or, if axes are
// mixed, elements by their row-major numbers. Windows of known kinds also list taps in the padding,
// at indices outside the tensor. Cost: the indices along each axis times the window; the elements,
// if axes are mixed.
struct ElementReads {
  std::vector<std::vector<int64_t>> axes;
  std::optional<std::vector<int64_t>> numbers;  // if set, there are no `axes`
};
ElementReads ReadsOf(const Graph& graph, const Operator& op, size_t operand,
                     const ops::Box& output);

// The same with the shapes of all operands as an argument, for loops over operands. Such a loop
// then takes time linear in the operands.
ops::Box HullOfReads(const Graph& graph, const Operator& op, const ops::OperandShapes& inputs,
                     size_t operand, const ops::Box& output);

// The shapes of op.inputs. The graph must outlive the result.
ops::OperandShapes OperandShapesOf(const Graph& graph, const Operator& op);

}  // namespace tessera::graph

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/region.h"

// The part of each input that an operator of a graph needs for a part of its output
// (docs/program.md, "What a tile needs"), and the work.
namespace tessera::graph {

// One map for each axis of op.inputs[input], from the operator's definition. `inputs` are the
// shapes of the operator's operands (reads.h).
std::vector<ops::AxisMap> AxisMapsOf(const Graph& graph, const Operator& op,
                                     const ops::OperandShapes& inputs, size_t input);

// The part of input number `input` (index into op.inputs) that `op` needs to compute `output` of
// its first output. Barriers need everything.
ops::Box InputRegion(const Graph& graph, const Operator& op, size_t input, const ops::Box& output);
// The same with the shapes of all operands as an argument, for loops over operands.
ops::Box InputRegion(const Graph& graph, const Operator& op, const ops::OperandShapes& inputs,
                     size_t input, const ops::Box& output);

// The multiply-accumulates to compute `output`; for an opaque operator, the share of `output` in
// its work, rounded up.
int64_t MacsOf(const Graph& graph, const Operator& op, const ops::Box& output);

// The multiply-accumulates of one operator for its whole (first) output, including taps in the
// padding. A transposed convolution has taps / (row stride * column stride) for each output; the
// sum is rounded up. 0 for kinds without any (pools, elementwise, softmax and layout changes), and
// for operators with unknown work.
int64_t MacsOf(const Graph& graph, const Operator& op);

}  // namespace tessera::graph

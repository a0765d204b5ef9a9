// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"

// Other forms of a network, with the same results.
namespace tessera::graph {

// Whether the tensor is a constant that only elementwise operators use, with a shape that
// broadcasts to their results, so that tiles of it may be read. A custom encoding cannot be read in
// tiles.
bool CanBeState(const Graph& graph, const Usage& usage, int tensor);

// Returns the same network with these constants as states without a next value. The program does
// not write such a state, and a tile needs only a part of it, as of any feature map. CanBeState
// holds for each of `tensors`, which may be in any order.
Graph WithStates(const Graph& graph, std::span<const int> tensors);

// Whether the operator needs whole axes to make any part of its result, and can be computed in two
// passes: a softmax or layer_norm with one operand.
bool CanTakeTwoPasses(const Operator& op);

// Returns the same network with those operators in two passes. `ops` are indices of operators that
// can take two passes, ascending. An operator keeps its id and its result, tensors keep their ids.
//
// Cost: linear in the network.
Graph InTwoPasses(const Graph& graph, std::span<const int> ops);

// The axes that a reduce or global_pool combines, ascending; none for other kinds.
std::vector<int> ReducedAxes(const Operator& op);

// Whether the operator reduces several axes, and can do so one after the other: the function of
// the elements of one axis follows from those of its parts, as for sums and greatest elements.
bool CanGoAxisByAxis(const Operator& op);

// Returns the same network with those operators as one reduce for each axis. `ops` are indices of
// operators that can go axis by axis, ascending. An operator keeps its id and its result.
//
// Cost: linear in the network.
Graph AxisByAxis(const Graph& graph, std::span<const int> ops);

// A sum of products in parts: each adds up `k_extent` indices of K, the last one the rest.
struct Parts {
  int op = 0;
  int64_t k_extent = 1;
};

// Whether the operator adds up products along one axis of each operand, as a convolution with one
// group or a matmul does, and its factors can be cut there.
bool CanGoInParts(const Graph& graph, const Operator& op);

// Returns the same network with those operators in parts, which are ascending. Each part reads a
// slice of each operand. An elementwise operator adds the partial sums; it keeps the id and the
// result. The parts of a constant are constants of their own.
//
// Cost: linear in the network and the parts.
Graph InParts(const Graph& graph, std::span<const Parts> all);

}  // namespace tessera::graph

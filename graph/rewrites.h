// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

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

}  // namespace tessera::graph

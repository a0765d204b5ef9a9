// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "tessera/graph/graph.h"

namespace tessera::graph {

// Whether the operator needs whole axes to make any part of its result, and can be computed in two
// passes: a softmax or layer_norm with one operand.
bool CanTakeTwoPasses(const Operator& op);

// Returns the same network with those operators in two passes. `ops` are indices of operators that
// can take two passes, ascending. An operator keeps its id and its result, tensors keep their ids.
//
// Cost: linear in the network.
Graph InTwoPasses(const Graph& graph, std::span<const int> ops);

}  // namespace tessera::graph

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "tessera/graph/graph.h"

namespace tessera::graph {

// Whether the tensor is a constant that only elementwise operators use, with a shape that
// broadcasts to their results, so that tiles of it may be read. A custom encoding cannot be read in
// tiles.
bool CanBeState(const Graph& graph, const Usage& usage, int tensor);

// The same network with these constants as states without a next value: operands that something
// outside the program writes once, and of which a tile needs a part, as of every feature map.
// `tensors` can be states, and are in no order.
Graph WithStates(const Graph& graph, std::span<const int> tensors);

}  // namespace tessera::graph

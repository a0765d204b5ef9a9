// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "graph_builder.h"
#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"

// Random small graphs of every kind of operator.
namespace tessera::graph {

// Tensors hold at most this many elements, so that tests can compare every pair of them.
inline constexpr int64_t kMostRandomElements = 250;

// A random operator on the tensors so far, of any kind but barriers; its inputs probably include
// the newest tensor. nullopt where the draw does not fit the tensors.
std::optional<int> AddRandomOperator(base::Random& random, GraphBuilder& builder);

// `operators` random operators on one or two inputs of rank 1 to 5, mostly feature maps: chains,
// skips, concatenations, broadcasts, several outputs.
Graph RandomGraph(base::Random& random, int operators);

// As many operators on feature maps, mostly depthwise ones, mostly in a row.
Graph RandomDepthwiseChain(base::Random& random, int operators);

// As many operators, one of which makes the next value of a state: the sum of the state and another
// tensor, or their concatenation.
Graph RandomRecurrence(base::Random& random, int operators);

// Makes some network inputs states with later tensors of their type and rank as next values, where
// there are such tensors.
void DrawStates(base::Random& random, Graph& graph);

// The axes of a tensor of that rank in random order.
std::vector<int> RandomAxes(base::Random& random, size_t rank);

ops::Box RandomBox(base::Random& random, const Shape& shape);

}  // namespace tessera::graph

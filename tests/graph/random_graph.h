#pragma once

#include <optional>

#include "graph_builder.h"
#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"

// Small graphs at random, of every kind of operator.
namespace tessera::graph {

// Tensors hold at most this many elements, so that every pair of them can be asked.
inline constexpr int64_t kMostRandomElements = 250;

// A random operator on the tensors so far, of any kind but barriers, the newest tensor being likely
// among its inputs; nullopt where the draw does not fit them.
std::optional<int> AddRandomOperator(base::Random& random, GraphBuilder& builder);

// `operators` random operators on one or two inputs of rank 1 to 5, mostly feature maps: chains,
// skips, concatenations, broadcasts, several outputs.
Graph RandomGraph(base::Random& random, int operators);

// As many operators on feature maps, mostly depthwise ones, mostly one behind the other.
Graph RandomDepthwiseChain(base::Random& random, int operators);

// As many operators, one of which makes the next value of a state: the sum of it and something
// else, or both one behind the other.
Graph RandomRecurrence(base::Random& random, int operators);

// Makes some network inputs states, which hand on later tensors of their type and rank, where there
// are such.
void DrawStates(base::Random& random, Graph& graph);

ops::Box RandomBox(base::Random& random, const Shape& shape);

}  // namespace tessera::graph

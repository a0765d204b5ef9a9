#pragma once

#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

// Softmax and normalisations that fit in no subgraph, because even their smallest tile needs more
// than the tile memory has. A search without a plan goes on with these in two passes
// (graph/two_passes.h).
namespace tessera::search::partition {

// The operators of the network, ascending.
std::vector<int> FindForTwoPasses(const graph::Graph& network, const hw_profiles::Profile& profile);

// Tells in the plan which operators of the network these are.
void NoteTwoPasses(const graph::Graph& network, const std::vector<int>& ops, plan::Plan& plan);

}  // namespace tessera::search::partition

#pragma once

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::search {

// Bytes of the tile memory below which no plan with subgraphs of at most `most` operators can stay: some step runs the operator
// whose operands are largest in the smallest tiles, together with the constants that are at home there. 1 at least.
problem::Bytes FindPeakFloor(const graph::Graph& graph, const hw_profiles::Profile& profile, int most);

}  // namespace tessera::search

#pragma once

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::search {

// Bytes of the tile memory below which no plan can stay.
struct PeakFloor {
  problem::Bytes bytes = 0;
  int op = 0;  // the operator that needs them
};

// Some step runs the operator whose operands are largest in the smallest tiles, together with the constants that are at home
// there. Holds for subgraphs of any length, for tiles of any shape and for every policy.
PeakFloor FindPeakFloor(const graph::Graph& graph, const hw_profiles::Profile& profile);

}  // namespace tessera::search

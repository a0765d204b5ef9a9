#pragma once

#include <span>
#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/skeleton.h"

namespace tessera::encoder {

// Colocations of results with operands that die as they are made, for subgraph number `subgraph` of the skeleton when it is cut
// like `tiling` and its buffers have these sizes. Appends to `relations`, which hold those of the subgraphs before and of halos. See
// in_place.cc.
void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
                int subgraph, const graph::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                std::vector<problem::Relation>& relations);

}  // namespace tessera::encoder

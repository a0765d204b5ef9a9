#pragma once

#include <span>
#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/skeleton.h"

namespace tessera::encoder {

// Colocations of results with operands that die as they are made, for subgraph number `subgraph` of the skeleton when it is cut
// like `tiling` and its buffers have these sizes. See in_place.cc.
std::vector<problem::Relation> FindInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                           const Skeleton& skeleton, int subgraph,
                                           const graph::TiledSubgraph& tiling,
                                           std::span<const problem::Bytes> sizes);

}  // namespace tessera::encoder

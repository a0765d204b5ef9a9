#pragma once

#include <span>
#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/skeleton.h"

// Colocations of results with operands that die as they are made. `relations` hold those of halos and of what was put in place
// before; more are appended. See in_place.cc.
namespace tessera::encoder {

// Of subgraph number `subgraph` of a skeleton, those of the operators that uses.by_channel names. The others are taken off that list.
void AddByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile, Skeleton& skeleton,
                  int subgraph, std::vector<problem::Relation>& relations);

// All others of the subgraph, when it is cut like `tiling` and its buffers have these sizes.
void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
                int subgraph, const graph::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                std::vector<problem::Relation>& relations);

}  // namespace tessera::encoder

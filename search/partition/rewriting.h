// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// A network may have no plan because one of its operators fits in no subgraph: even the smallest
// tile, with everything that the operator needs in addition, exceeds the tile memory. The search
// then continues with another network that computes the same.
namespace tessera::search::partition {

struct Rewriting {
  graph::Graph network;
  std::vector<std::string> notes;  // for the plan: the differences, and their reasons
  // Whether some operator fits in no subgraph of the given network, so that it has no plan.
  bool is_needed = false;
};

// Rewrites operators that do not fit:
//
// - Constants of elementwise operators become states (graph/rewrites.h), of which a tile
//   needs only a part.
// - Softmax and normalisations take two passes (graph/rewrites.h).
// - Reductions over several axes go axis by axis (graph/rewrites.h).
// - Pools with one window become global pools, which read slices of the map (`split_k`).
// - Sums of products go in parts along K (graph/rewrites.h).
// - Opaque operators run on the host: those with unknown regions, which need all their tensors as a
//   whole, and described ones whose smallest tile does not fit.
//
// The host needs no tile memory, so its operators stay. Returns nullopt if no operator is
// rewritten. Cost: linear in the network.
std::optional<Rewriting> RewriteWhatDoesNotFit(const graph::Graph& network,
                                               const hw_profiles::Profile& profile);

}  // namespace tessera::search::partition

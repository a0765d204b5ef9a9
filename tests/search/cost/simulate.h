// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/simulator.h"

namespace tessera::search::cost {

// Simulator::Run for one subgraph of a network.
inline plan::Metrics Simulate(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              const graph::tiling::TiledSubgraph& tiling,
                              const encoder::program::Policy& policy,
                              const Prefetches& prefetches = {}) {
  return Simulator(graph, profile).Run(tiling, policy, Detail::kParts, prefetches);
}

// SubgraphBounds::Find for one set of kept tensors.
inline plan::Metrics SubgraphBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                   graph::Interval interval, const std::vector<int>& kept = {}) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  return SubgraphBounds(graph, profile, usages, interval).Find(kept);
}

}  // namespace tessera::search::cost

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/simulator.h"

namespace tessera::search {

inline constexpr encoder::program::Policy kResident = {hw_profiles::WeightPolicy::kResident, false};
inline constexpr encoder::program::Policy kStreamed = {hw_profiles::WeightPolicy::kStreamed, false};
inline constexpr encoder::program::Policy kDirect = {hw_profiles::WeightPolicy::kDirect, false};

namespace cost {

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

}  // namespace cost

// Simulates all operators as one subgraph, in tiles of so many rows.
inline plan::Metrics RunRows(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             int64_t rows, const encoder::program::Policy& policy) {
  const int last = static_cast<int>(graph.operators.size()) - 1;
  graph::Shape tile = graph::ShapeOf(graph, graph.operators.back().outputs.front());
  tile[2] = rows;
  return cost::Simulate(graph, profile,
                        encoder::program::CutTiles(graph, {0, last}, tile, policy.halo), policy);
}

}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/engine.h"

// The best partition by exhaustive search: all 2^(n-1) partitions, all shapes, all policies.
namespace tessera::search {

// Greedy orders, then canonical search.
const std::vector<const problem::Engine*>& TestEngines();

// All choices of all intervals of one network. The homes of its tensors are off chip, so that
// subgraphs do not depend on each other.
class ExhaustiveSearch {
 public:
  ExhaustiveSearch(const graph::Graph& graph, const hw_profiles::Profile& profile);

  // The least score with least peaks, or nullopt when nothing fits.
  std::optional<double> BestScore(const plan::Objective& objective,
                                  const plan::Metrics& lower_bounds) const;

 private:
  // What a choice costs: latency, energy, off-chip bytes, peak, MACs, off-chip bytes per cycle in
  // its busiest step.
  using Costs = std::array<double, 6>;

  double clock_hz_ = 0;
  std::vector<Costs> partitions_;  // the costs of every choice for every partition, each once
};

}  // namespace tessera::search

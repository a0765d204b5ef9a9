// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <string>

#include "tessera/base/random.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera {

// Makes the profile double-buffered, with a second engine next to its first, and lets both work at
// the same time. Each operator names one of the two.
inline void DrawTwoEngines(base::Random& random, graph::Graph& graph,
                           hw_profiles::Profile& profile) {
  profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  profile.tiling.may_serialize = false;
  profile.tiling.concurrent = true;
  const auto worker = std::find_if(profile.engines.begin(), profile.engines.end(),
                                   [](const hw_profiles::Engine& each) { return !each.host; });
  const std::string first = worker->name;
  hw_profiles::Engine other = *worker;
  other.name = "other";
  other.idle_cycles_between_tiles = random.Uniform(0, 20);
  profile.engines.insert(worker + 1, other);
  for (graph::Operator& op : graph.operators) {
    const bool listed = std::any_of(
        other.throughputs.begin(), other.throughputs.end(),
        [&op](const hw_profiles::Throughput& each) { return each.kind == op.kind && !each.type; });
    if (op.engine.empty() && listed) op.engine = random.Chance(0.5) ? first : other.name;
  }
}

// Gives most subgraphs that may have them two stages.
inline void DrawStage(base::Random& random, const graph::Graph& graph,
                      const hw_profiles::Profile& profile,
                      encoder::program::SubgraphChoice& choice) {
  using hw_profiles::WeightPolicy;
  const graph::Interval interval = choice.interval;
  if (interval.first == interval.last || random.Chance(0.1)) return;
  encoder::program::SubgraphChoice staged = choice;
  staged.policy.halo = hw_profiles::HaloStorage::kRecompute;
  staged.policy.in_place = false;
  staged.policy.serialized = false;
  for (const WeightPolicy weights : profile.tiling.weights) {
    const bool may_be = weights == WeightPolicy::kResident || weights == WeightPolicy::kDirect;
    if (may_be && random.Chance(0.7)) staged.policy.weights = weights;
  }
  staged.policy.second_stage = static_cast<int>(random.Uniform(1, interval.last - interval.first));
  const auto uses =
      encoder::program::FindUses(graph, graph::UsagesOf(graph), profile, interval, staged.policy);
  if (!uses) return;
  const int64_t tiles =
      encoder::program::CutTiles(graph, interval, staged.tile, staged.policy.halo).tiles;
  if (!encoder::program::FindStageFault(graph, profile, *uses, staged, tiles)) choice = staged;
}

}  // namespace tessera

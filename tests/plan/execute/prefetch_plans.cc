// SPDX-License-Identifier: Apache-2.0

#include "prefetch_plans.h"

#include <algorithm>
#include <vector>

#include "../fixture.h"
#include "plans.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/tests/draw_prefetch.h"

namespace tessera::plan::execute {

using hw_profiles::WeightPolicy;

Plan Prefetched() {
  hw_profiles::Profile profile = SmallProfile();
  profile.memories[0].capacity_bytes = 4096;
  profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  const encoder::program::Policy policy = {WeightPolicy::kResident, false};
  return Spread(TwoConvs(10), profile,
                {{{0, 0}, {1, 4, 2, 4}, policy}, {{1, 1}, {1, 4, 2, 4}, policy, /*prefetch=*/{1}}});
}

std::optional<Plan> DrawPrefetches(base::Random& random, const Plan& plan) {
  hw_profiles::Profile profile = plan.profile;
  profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  const std::vector<WeightPolicy>& ways = profile.tiling.weights;
  const bool may_reside =
      std::find(ways.begin(), ways.end(), WeightPolicy::kResident) != ways.end();
  const bool may_stream =
      std::find(ways.begin(), ways.end(), WeightPolicy::kStreamed) != ways.end();
  std::vector<encoder::program::SubgraphChoice> choices;
  for (const Subgraph& subgraph : plan.subgraphs) {
    encoder::program::SubgraphChoice& choice = choices.emplace_back();
    choice.interval = subgraph.interval;
    choice.tile = subgraph.tile;
    choice.policy = {.weights = subgraph.weights,
                     .in_place = subgraph.in_place,
                     .halo = subgraph.halo,
                     .serialized = subgraph.serialized};
    const double way = random.Uniform(0, 9);
    if (may_reside && way < 5) choice.policy.weights = WeightPolicy::kResident;
    if (!may_stream || way < 6) continue;
    choice.policy.weights = WeightPolicy::kStreamed;
    choice.policy.halo = hw_profiles::HaloStorage::kRecompute;
    choice.tile = encoder::program::OutputShape(plan.network, choice.interval);
  }
  for (size_t i = 1; i < choices.size(); ++i) {
    if (!random.Chance(0.8)) continue;
    choices[i].prefetch = DrawPrefetch(random, i);
    if (!encoder::program::BuildProgram(plan.network, profile, choices)) choices[i].prefetch = {};
  }
  const bool any = std::any_of(
      choices.begin(), choices.end(),
      [](const encoder::program::SubgraphChoice& choice) { return !choice.prefetch.empty(); });
  return any ? PlaceLow(plan.network, profile, choices) : std::nullopt;
}

}  // namespace tessera::plan::execute

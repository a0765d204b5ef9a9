// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/engine_passes.h"

#include <algorithm>

#include "tessera/base/saturating.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// As one subgraph an interval gets its constants under one of few policies:
//
//    resident   | all constants | op 0 | op 1 | op 2 |
//    streamed   | w0 | op 0     | op 1     | op 2    |     an operator takes at least the time of
//                    | w1       | w2       |               concurrent arrivals
namespace tessera::search::cost {

using hw_profiles::Profile;

std::vector<int64_t> EnginePasses(const Profile& profile, std::span<const CertainWork> operators) {
  const hw_profiles::Port& port = profile.memories[static_cast<size_t>(profile.tile_memory)].port;
  std::vector<int64_t> passes;
  for (const CertainWork& engine : operators) {
    Touched touched = engine.touched;
    base::Accumulate(touched.read, engine.constant_bytes);
    passes.push_back(std::max(engine.arithmetic, LeastPortCycles(port, touched)));
  }
  return passes;
}

SubgraphBounds::Weights FindWeights(const graph::Graph& graph, const Profile& profile,
                                    const std::vector<graph::Usage>& usages,
                                    const Coverage& coverage, hw_profiles::WeightPolicy policy) {
  const graph::Interval interval = coverage.Whole().interval;
  SubgraphBounds::Weights weights{
      policy, TileCosts(graph, profile, usages, coverage.Whole(), {.weights = policy}), {}};
  const std::vector<int>& homes = weights.costs.ConstantHomes();
  weights.arriving.assign(homes.size(), 0);
  if (weights.costs.ConstantTransfer() != TransferKind::kMoved) return weights;
  const std::vector<LoadedOnce> loaded = ConstantsLoadedOnce(graph, profile, interval, policy);
  for (size_t home = 0; home < homes.size(); ++home) {
    int64_t& arriving = weights.arriving[home];
    if (policy == hw_profiles::WeightPolicy::kStreamed)
      arriving = weights.costs.ConstantsIn(home).front().first_slice_cycles;
    for (const LoadedOnce& constant : loaded) {
      if (constant.home != homes[home]) continue;
      base::Accumulate(arriving, TransferCycles(profile, constant.home, Direction::kRead,
                                                OneRun(constant.bytes)));
    }
  }
  return weights;
}

int64_t EnginePass(const Profile& profile, std::span<const CertainWork> operators,
                   const SubgraphBounds::Weights& weights) {
  const hw_profiles::Port& port = profile.memories[static_cast<size_t>(profile.tile_memory)].port;
  const TileCosts& costs = weights.costs;
  const TransferKind transfer = costs.ConstantTransfer();
  const bool streamed =
      transfer == TransferKind::kMoved && weights.policy == hw_profiles::WeightPolicy::kStreamed;
  const std::vector<int>& homes = costs.ConstantHomes();
  int64_t pass = 0;  // the time of the slowest home before the pass
  for (const int64_t arriving : weights.arriving) pass = std::max(pass, arriving);
  for (size_t i = 0; i < operators.size(); ++i) {
    Touched touched = operators[i].touched;
    int64_t longest = operators[i].arithmetic;
    int64_t constant_bytes = 0;
    for (size_t home = 0; home < homes.size(); ++home) {
      const std::span<const ConstantCost> constants = costs.ConstantsIn(home);
      if (operators[i].all && transfer != TransferKind::kDirect)
        base::Accumulate(constant_bytes, constants[i].bytes);
      int64_t arriving = streamed ? constants[i].later_slices_cycles : 0;
      if (streamed && i + 1 < operators.size())
        base::Accumulate(arriving, constants[i + 1].first_slice_cycles);
      longest = std::max(longest, arriving);
    }
    base::Accumulate(touched.read, std::max(constant_bytes, operators[i].constant_bytes));
    base::Accumulate(pass, std::max(longest, LeastPortCycles(port, touched)));
  }
  return pass;
}

}  // namespace tessera::search::cost

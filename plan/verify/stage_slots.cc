// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "tessera/plan/verify/costs.h"

// A subgraph of two stages costs as much as one of a single stage with one tile more, whose tile i
// has the first stage's work on tile i and the second stage's on tile i - 1. Only the cycles of its
// steps differ: engines work next to each other.
//
//     first     | step 0 | step 1 |        |
//     second    |  step 2    | .. | step 3 |     step 1 and step 3 need the same engine
//
namespace tessera::plan::verify {
namespace {

// The cycles until both stages are done. Each engine runs one step at a time, each stage its steps
// in order. The step that can start first starts first; at equal times, that of the second stage.
int64_t CyclesSideBySide(const std::array<std::vector<StepCost>, 2>& stages) {
  std::map<const hw_profiles::Engine*, int64_t> free_at;
  std::array<int64_t, 2> done_at = {};
  std::array<size_t, 2> next = {};
  const auto start_of = [&](size_t stage) {
    return std::max(done_at[stage], free_at[stages[stage][next[stage]].engine]);
  };
  while (next[0] < stages[0].size() || next[1] < stages[1].size()) {
    const bool second =
        next[0] == stages[0].size() || (next[1] < stages[1].size() && start_of(1) <= start_of(0));
    const size_t stage = second ? 1 : 0;
    const StepCost& step = stages[stage][next[stage]];
    done_at[stage] = Plus(start_of(stage), step.cycles);
    free_at[step.engine] = done_at[stage];
    ++next[stage];
  }
  return std::max(done_at[0], done_at[1]);
}

}  // namespace

// Makes the slots of two stages: the first on one tile, the second on the tile before.
void CostCount::PairStages() {
  std::map<std::pair<int, int>, int> numbers;
  std::vector<int> order;
  for (size_t slot = 0; slot <= order_.size(); ++slot) {
    const std::pair tiles(slot < order_.size() ? order_[slot] : -1,
                          slot > 0 ? order_[slot - 1] : -1);
    const auto [number, is_new] = numbers.try_emplace(tiles, static_cast<int>(slots_.size()));
    order.push_back(number->second);
    if (!is_new) continue;
    TileCost& cost = slots_.emplace_back();
    cost.memories.resize(plan_.profile.memories.size());
    std::array<std::vector<StepCost>, 2> steps;
    for (size_t stage = 0; stage < 2; ++stage) {
      const int tile = stage == 0 ? tiles.first : tiles.second;
      if (tile < 0) continue;
      const TileCost& part = alike_[static_cast<size_t>(tile)].stages[stage];
      steps[stage] = part.steps;
      cost.steps.insert(cost.steps.end(), part.steps.begin(), part.steps.end());
      for (size_t i = 0; i < cost.memories.size(); ++i) AddAll(part.memories[i], cost.memories[i]);
    }
    cost.side_by_side = CyclesSideBySide(steps);
  }
  order_ = std::move(order);
}

}  // namespace tessera::plan::verify

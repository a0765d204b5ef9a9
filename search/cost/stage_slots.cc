// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/stage_slots.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tessera/base/arithmetic.h"

// Two stages as one: a slot has the transfers, direct accesses and port traffic of both its parts,
// and each of these sums is that of a tile. Its engines work side by side: each runs one operator
// at a time, each stage its operators in order. The operator that can start first is started next,
// at equal times that of the second stage, whose tile is older (list scheduling).
//
//     matrix   | product | sum   |                     the second stage: softmax, product
//     vector   |         | softmax  |
//     matrix   |                    | product |
namespace tessera::search::cost {
namespace {

void Add(const Flow& part, Flow& sum) {
  for (int64_t Flow::*each :
       {&Flow::load_cycles, &Flow::store_cycles, &Flow::direct_read_cycles,
        &Flow::direct_write_cycles, &Flow::load_bytes, &Flow::store_bytes, &Flow::direct_read_bytes,
        &Flow::direct_write_bytes, &Flow::direct_constant_bytes})
    base::Accumulate(sum.*each, part.*each);
}

void Add(const Touched& part, Touched& sum) {
  base::Accumulate(sum.read, part.read);
  base::Accumulate(sum.written, part.written);
}

// Adds the part of a stage, its steps behind those that are there.
void Add(const TileCost& part, TileCost& slot) {
  slot.engine.insert(slot.engine.end(), part.engine.begin(), part.engine.end());
  slot.runs_on.insert(slot.runs_on.end(), part.runs_on.begin(), part.runs_on.end());
  base::Accumulate(slot.compute, part.compute);
  base::Accumulate(slot.tile_memory, part.tile_memory);
  Add(part.at_engines, slot.at_engines);
  for (size_t memory = 0; memory < part.flows.size(); ++memory) {
    Add(part.flows[memory], slot.flows[memory]);
    Add(part.touched[memory], slot.touched[memory]);
  }
}

// Sets the begin of each step; the first `early` steps are those of the first stage.
void Schedule(size_t early, TileCost& slot) {
  const size_t steps = slot.engine.size();
  slot.begins.assign(steps, 0);
  std::map<const hw_profiles::Engine*, int64_t> free;
  int64_t ends[2] = {0, 0};  // of each stage so far
  size_t next[2] = {0, early};
  const size_t last[2] = {early, steps};
  const auto start_of = [&](int stage) {
    return std::max(ends[stage], free[slot.runs_on[next[stage]]]);
  };
  for (size_t done = 0; done < steps; ++done) {
    int stage = next[1] < last[1] ? 1 : 0;
    if (stage == 1 && next[0] < last[0] && start_of(0) < start_of(1)) stage = 0;
    const size_t step = next[stage]++;
    slot.begins[step] = std::max(ends[stage], free[slot.runs_on[step]]);
    ends[stage] = base::SaturatingAdd(slot.begins[step], slot.engine[step]);
    free[slot.runs_on[step]] = ends[stage];
  }
  slot.side_by_side = std::max(ends[0], ends[1]);
}

}  // namespace

StageSlots FindStageSlots(const TileCosts& costs, const graph::tiling::TiledSubgraph& tiling,
                          BlockChoices& blocks) {
  std::array<std::vector<TileCost>, 2> stages;
  for (const graph::tiling::TileClass& tile : tiling.classes) {
    stages[0].push_back(costs.CostOf(tile, blocks, /*late=*/false));
    stages[1].push_back(costs.CostOf(tile, blocks, /*late=*/true));
  }
  StageSlots slots;
  std::map<std::array<int, 2>, int> known;
  const auto tiles = static_cast<int64_t>(tiling.class_of.size());
  for (int64_t slot = 0; slot <= tiles; ++slot) {
    const auto class_of = [&](int64_t tile) {
      return 0 <= tile && tile < tiles ? tiling.class_of[static_cast<size_t>(tile)] : -1;
    };
    const std::array<int, 2> classes = {class_of(slot), class_of(slot - 1)};
    const auto [found, added] = known.try_emplace(classes, static_cast<int>(slots.costs.size()));
    slots.class_of.push_back(found->second);
    if (!added) continue;
    slots.tiles_of.push_back(classes);
    TileCost& cost = slots.costs.emplace_back();
    cost.flows.resize(stages[0].front().flows.size());
    cost.touched.resize(stages[0].front().touched.size());
    for (size_t stage = 0; stage < 2; ++stage) {
      if (classes[stage] >= 0) Add(stages[stage][static_cast<size_t>(classes[stage])], cost);
    }
    const size_t early =
        classes[0] < 0 ? 0 : stages[0][static_cast<size_t>(classes[0])].engine.size();
    Schedule(early, cost);
  }
  return slots;
}

}  // namespace tessera::search::cost

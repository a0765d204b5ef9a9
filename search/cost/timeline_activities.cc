// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/cost/stage_slots.h"
#include "tessera/search/cost/timeline.h"

namespace tessera::search::cost {

using hw_profiles::Profile;

Tracks::Tracks(const Profile& profile) : profile_(profile) {
  for (const hw_profiles::Engine& engine : profile.engines)
    tracks_.push_back({engine.name, plan::TrackFlow::kCompute});
  for (int memory = 0; memory < static_cast<int>(profile.memories.size()); ++memory)
    AddMemory(memory);
}

void Tracks::AddMemory(int memory) {
  const auto at = static_cast<int>(tracks_.size());
  if (memory == profile_.tile_memory) {
    of_memory_.push_back({-1, -1});
    return;
  }
  const std::string& name = PathName(profile_, memory);
  const bool in_turn = WorksInTurn(profile_, memory);
  of_memory_.push_back({at, in_turn ? at : at + 1});
  tracks_.push_back({name, in_turn ? plan::TrackFlow::kBoth : plan::TrackFlow::kIn});
  if (!in_turn) tracks_.push_back({name, plan::TrackFlow::kOut});
}

Filling::Filling(Slot& slot, int track) : slot_(slot), track_(track) {
  for (const Activity& activity : slot.activities) {
    if (activity.track == track) taken_.emplace_back(activity.begin, activity.end);
  }
  std::sort(taken_.begin(), taken_.end());
}

void Filling::Add(Activity activity, int64_t cycles) {
  activity.track = track_;
  while (cycles > 0) {
    while (next_ < taken_.size() && taken_[next_].first <= at_)
      at_ = std::max(at_, taken_[next_++].second);
    const int64_t free = next_ < taken_.size() ? taken_[next_].first - at_ : cycles;
    activity.begin = at_;
    activity.end = at_ + std::min(free, cycles);
    slot_.activities.push_back(activity);
    slot_.cycles = std::max(slot_.cycles, activity.end);
    cycles -= activity.end - activity.begin;
    at_ = activity.end;
  }
}

int64_t FreeCycles(const Slot& slot, int track) {
  int64_t free = slot.cycles;
  for (const Activity& activity : slot.activities)
    free -= activity.track == track ? activity.end - activity.begin : 0;
  return free;
}

void Append(const Slot& slot, int64_t tile, bool shown, SubgraphTimeline& timeline) {
  for (const Activity& activity : slot.activities) {
    base::Accumulate(timeline.busy[static_cast<size_t>(activity.track)],
                     activity.end - activity.begin);
    if (!shown) continue;
    timeline.activities.push_back(activity);
    Activity& added = timeline.activities.back();
    added.begin += timeline.cycles;
    added.end += timeline.cycles;
    added.tile += tile;
  }
  base::Accumulate(timeline.cycles, slot.cycles);
}

std::vector<TensorTransfer> TransfersOf(const graph::Graph& graph, const Profile& profile,
                                        const std::vector<graph::Usage>& usages,
                                        const graph::tiling::TiledSubgraph& tiling,
                                        const graph::tiling::TileClass& tile,
                                        const std::vector<int>& kept, const TileCosts& costs) {
  std::vector<TensorTransfer> transfers;
  const graph::Interval interval = tiling.interval;
  for (size_t i = 0; i < tiling.tensors.size(); ++i) {
    const int tensor = tiling.tensors[i];
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    const Route route = RouteOf(graph, profile, usage, tensor, interval, kept);
    if (route.transfer != TransferKind::kMoved) continue;
    const bool made = interval.first <= usage.producer && usage.producer <= interval.last;
    if (!made && costs.TakesSplitK(tensor)) continue;
    const auto reader =
        std::lower_bound(usage.consumers.begin(), usage.consumers.end(), interval.first);
    const graph::tiling::ExtentsView extents =
        made ? tile.share[i] : graph::tiling::MadeOf(tile, i);
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, route.role);
    const graph::Tensor& moved = graph.tensors[static_cast<size_t>(tensor)];
    TensorTransfer transfer{.tensor = tensor,
                            .op = made ? usage.producer : *reader,
                            .direction = made ? Direction::kWrite : Direction::kRead,
                            .memory = route.home};
    transfer.cycles =
        TransferCycles(profile, route.home, transfer.direction, RunsOf(moved, extents, layout));
    transfer.bytes = PayloadBytes(moved, extents, layout);
    if (transfer.cycles > 0) transfers.push_back(transfer);
  }
  return transfers;
}

Activity AsActivity(const TensorTransfer& transfer, int64_t tile) {
  const bool in = transfer.direction == Direction::kRead;
  return {.kind = in ? ActivityKind::kLoad : ActivityKind::kStore,
          .tile = tile - transfer.behind,
          .op = transfer.op,
          .tensor = transfer.tensor,
          .bytes = transfer.bytes};
}

StagedWork PairStages(const TileCosts& costs, const graph::tiling::TiledSubgraph& tiling,
                      const std::vector<TileWork>& tiles, BlockChoices& blocks) {
  StageSlots slots = FindStageSlots(costs, tiling, blocks);
  StagedWork staged{.slots = {}, .class_of = std::move(slots.class_of)};
  for (size_t i = 0; i < slots.costs.size(); ++i) {
    TileWork& slot = staged.slots.emplace_back();
    slot.cost = std::move(slots.costs[i]);
    slot.lacks_first = slots.tiles_of[i][0] < 0;
    for (const int stage : {0, 1}) {
      const int tile = slots.tiles_of[i][static_cast<size_t>(stage)];
      if (tile < 0) continue;
      for (TensorTransfer transfer : tiles[static_cast<size_t>(tile)].transfers) {
        if (costs.IsLate(transfer.op - tiling.interval.first) != (stage == 1)) continue;
        transfer.behind = stage;
        slot.transfers.push_back(transfer);
      }
    }
  }
  return staged;
}

// The steps of the first stage come first in the cost, unless the slot has none.
void AddStages(const TileWork& here, const TileCosts& costs, graph::Interval interval,
               const Tracks& tracks, Slot& slot) {
  const auto steps = static_cast<int>(here.cost.engine.size());
  const int skipped = here.lacks_first ? static_cast<int>(costs.Operators()) - steps : 0;
  for (int step = 0; step < steps; ++step) {
    const auto index = static_cast<size_t>(step);
    if (here.cost.engine[index] == 0) continue;
    slot.activities.push_back({.begin = here.cost.begins[index],
                               .end = here.cost.begins[index] + here.cost.engine[index],
                               .track = tracks.OfEngine(here.cost.runs_on[index]),
                               .tile = costs.IsLate(skipped + step) ? -1 : 0,
                               .op = interval.first + skipped + step});
  }
  slot.cycles = *here.cost.side_by_side;
}

}  // namespace tessera::search::cost

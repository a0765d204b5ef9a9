// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// simulator.cc computes the length of each slot. Here every activity gets its place in the slot,
// and the slot ends with the last activity. The model determines less than a picture needs, so this
// file makes these choices:
//
//    engine   | C_0      | C_1   | .. |      steps in sequence; a step that waits for its slices is
//                                            followed by a gap, as is a tile if engines idle then
//    dma      |ss load   |ss load| store |   slices begin with their step; free time is filled with
//                                            direct work, then loads, then stores, each interrupted
//                                            by slices
//
// The filling leaves no track idle while an activity waits for it. So a slot is as long as the
// longest of its tracks, or as the port of the tile memory takes: the maximum of the sums that
// simulator.cc compares. Slots are equal if they and both neighbours have the same classes, so each
// kind of slot is laid out once. Prefetches fill the free time of all slots and the epilogue; where
// the port of the tile memory takes longer for all of them, the epilogue ends with it.
namespace tessera::search::cost {
namespace {

using hw_profiles::DmaSteps;

class Layout {
 public:
  Layout(const graph::Graph& graph, const hw_profiles::Profile& profile,
         const graph::tiling::TiledSubgraph& tiling, const encoder::program::Policy& policy,
         const Prefetches& prefetches)
      : graph_(graph),
        profile_(profile),
        tiling_(tiling),
        usages_(graph::UsagesOf(graph)),
        costs_(graph, profile, usages_, tiling, policy),
        tracks_(profile),
        prefetches_(prefetches),
        double_buffered_(encoder::program::DmaOf(profile, policy) == DmaSteps::kDoubleBuffered),
        class_of_(tiling.class_of),
        constants_(costs_.ConstantFlowsOf(policy.weights, prefetches.own)),
        slices_(constants_.size()) {
    BlockChoices blocks;
    for (const graph::tiling::TileClass& tile : tiling.classes)
      work_.push_back({costs_.CostOf(tile, blocks),
                       TransfersOf(graph, profile, usages_, tiling, tile, policy.kept, costs_)});
    if (costs_.HasTwoStages()) {
      StagedWork staged = PairStages(costs_, tiling, work_, blocks);
      work_ = std::move(staged.slots);
      class_of_ = std::move(staged.class_of);
    }
    const bool streams = policy.weights == hw_profiles::WeightPolicy::kStreamed;
    for (size_t i = 0; streams && i < constants_.size(); ++i) {
      for (int op = tiling.interval.first; op <= tiling.interval.last; ++op)
        slices_[i].push_back(SlicesOf(op, i));
    }
  }

  SubgraphTimeline Run(int64_t most_tiles);

 private:
  const TileWork* WorkOf(int64_t tile) const {
    if (tile < 0 || tile >= Slots()) return nullptr;
    return &work_[static_cast<size_t>(class_of_[static_cast<size_t>(tile)])];
  }
  int64_t Slots() const { return static_cast<int64_t>(class_of_.size()); }
  int64_t TilePortCycles(const Touched& touched) const {
    return PortCycles(profile_.memories[static_cast<size_t>(profile_.tile_memory)].port, touched);
  }
  int TrackFrom(int memory) const { return tracks_.OfMemory(memory, Direction::kRead); }

  SliceFlow SlicesOf(int op, size_t home) const;
  template <typename Visit>
  void ForEachSlices(const TileWork& work, size_t step, Visit visit) const;
  Slot Prologue() const;
  Slot Epilogue() const;
  Slot Serialized(const TileWork& here, const TileWork* next) const;
  Slot DoubleBuffered(const TileWork* previous, const TileWork& here, const TileWork* next) const;
  void AddPass(const TileWork& here, const TileWork* next, Slot& slot) const;
  Slot WithPrefetches(Slot slot, bool all, std::vector<int64_t>& left) const;

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const graph::tiling::TiledSubgraph& tiling_;
  const std::vector<graph::Usage> usages_;
  const TileCosts costs_;
  const Tracks tracks_;
  const Prefetches prefetches_;
  const bool double_buffered_;
  // parallel to TiledSubgraph::classes; of two stages, to StageSlots::costs
  std::vector<TileWork> work_;
  std::vector<int> class_of_;                  // tiles, or slots of two stages, into `work_`
  const std::vector<ConstantFlow> constants_;  // empty if they are not moved
  // parallel to them, then to the operators of the interval; empty unless constants are streamed
  std::vector<std::vector<SliceFlow>> slices_;
  SubgraphTimeline timeline_;
};

// Returns the slices of the constants of an operator. Cycles are those of TileCosts; the first
// slice of each constant counts in the first bytes.
SliceFlow Layout::SlicesOf(int op, size_t home) const {
  if (const std::vector<SliceFlow>& rest = constants_[home].rest; !rest.empty())
    return rest[static_cast<size_t>(op - tiling_.interval.first)];
  const ConstantCost& cost =
      costs_.ConstantsIn(home)[static_cast<size_t>(op - tiling_.interval.first)];
  SliceFlow slices{.first_cycles = cost.first_slice_cycles,
                   .later_cycles = cost.later_slices_cycles};
  const graph::Operator& user = graph_.operators[static_cast<size_t>(op)];
  if (cost.streamed_bytes == 0) return slices;
  for (auto at = user.weights.begin(); at != user.weights.end(); ++at) {
    if (std::find(user.weights.begin(), at, *at) != at) continue;
    if (!encoder::program::IsSliceable(graph_, *at, tiling_.interval)) continue;
    if (encoder::program::HomeOf(graph_, profile_, *at, base::TensorRole::kConstant) !=
        costs_.ConstantHomes()[home])
      continue;
    const encoder::program::Slicing slicing =
        encoder::program::SlicesOf(graph_, profile_, *at, user);
    base::Accumulate(slices.first_bytes, slicing.count == 1 ? cost.streamed_bytes : slicing.bytes);
  }
  slices.first_bytes = std::min(slices.first_bytes, cost.streamed_bytes);
  slices.later_bytes = cost.streamed_bytes - slices.first_bytes;
  return slices;
}

// Visits the slices of one step of a tile, by the track that carries them.
template <typename Visit>
void Layout::ForEachSlices(const TileWork& work, size_t step, Visit visit) const {
  for (size_t i = 0; i < constants_.size(); ++i) {
    if (!slices_[i].empty()) visit(TrackFrom(constants_[i].home), slices_[i][step]);
  }
  for (size_t memory = 0; memory < work.cost.split_k.memories.size(); ++memory) {
    if (static_cast<int>(memory) == profile_.tile_memory) continue;
    visit(tracks_.OfMemory(static_cast<int>(memory), Direction::kRead),
          work.cost.split_k.memories[memory]);
  }
}

// The constants that are loaded once and, if transfers overlap compute, the first tile and the
// first slice. In the latter case memories work in parallel.
Slot Layout::Prologue() const {
  Slot slot;
  if (!double_buffered_) {
    for (const ConstantFlow& constants : constants_) {
      const int64_t begin = slot.cycles;
      slot.cycles += constants.resident_cycles;
      if (begin == slot.cycles) continue;
      slot.activities.push_back({.begin = begin,
                                 .end = slot.cycles,
                                 .track = TrackFrom(constants.home),
                                 .kind = ActivityKind::kConstants,
                                 .bytes = constants.resident_bytes});
    }
    return slot;
  }
  for (int memory = 0; memory < static_cast<int>(profile_.memories.size()); ++memory) {
    if (memory == profile_.tile_memory) continue;
    Filling filling(slot, tracks_.OfMemory(memory, Direction::kRead));
    for (const ConstantFlow& constants : constants_) {
      if (constants.home != memory) continue;
      filling.Add({.kind = ActivityKind::kConstants, .bytes = constants.resident_bytes},
                  constants.resident_cycles);
    }
    for (const TensorTransfer& transfer : WorkOf(0)->transfers) {
      if (transfer.memory == memory && transfer.direction == Direction::kRead)
        filling.Add(AsActivity(transfer, 0), transfer.cycles);
    }
    ForEachSlices(*WorkOf(0), 0, [&](int track, const SliceFlow& slices) {
      if (track != tracks_.OfMemory(memory, Direction::kRead)) return;
      filling.Add({.kind = ActivityKind::kSlices,
                   .op = tiling_.interval.first,
                   .bytes = slices.first_bytes},
                  slices.first_cycles);
    });
  }
  return slot;
}

Slot Layout::Epilogue() const {
  Slot slot;
  if (!double_buffered_) return slot;
  for (int memory = 0; memory < static_cast<int>(profile_.memories.size()); ++memory) {
    if (memory == profile_.tile_memory) continue;
    Filling filling(slot, tracks_.OfMemory(memory, Direction::kWrite));
    for (const TensorTransfer& transfer : WorkOf(Slots() - 1)->transfers) {
      if (transfer.memory == memory && transfer.direction == Direction::kWrite)
        filling.Add(AsActivity(transfer, 0), transfer.cycles);
    }
  }
  for (const Flow& flow : WorkOf(Slots() - 1)->cost.flows)
    base::Accumulate(slot.at_tile_memory.read, flow.store_bytes);
  return slot;
}

// Activities in sequence: an operator's operands arrive, then all its slices (in the program slices
// and compute alternate), it computes, its results leave. Direct work is part of the step.
Slot Layout::Serialized(const TileWork& here, const TileWork* next) const {
  Slot slot;
  const auto put = [&slot](Activity activity, int track, int64_t cycles) {
    if (cycles == 0) return;
    activity.track = track;
    activity.begin = slot.cycles;
    activity.end = slot.cycles += cycles;
    slot.activities.push_back(activity);
  };
  const auto transfer_all = [&](Direction direction, int op) {
    for (const TensorTransfer& transfer : here.transfers) {
      if (transfer.direction != direction || transfer.op != op) continue;
      put(AsActivity(transfer, 0), tracks_.OfMemory(transfer.memory, direction), transfer.cycles);
    }
  };
  for (size_t step = 0; step < here.cost.engine.size(); ++step) {
    const int op = tiling_.interval.first + static_cast<int>(step);
    transfer_all(Direction::kRead, op);
    ForEachSlices(here, step, [&](int track, const SliceFlow& slices) {
      put({.kind = ActivityKind::kSlices,
           .op = op,
           .bytes = slices.first_bytes + slices.later_bytes},
          track, slices.first_cycles + slices.later_cycles);
    });
    put({.kind = ActivityKind::kCompute, .op = op}, tracks_.OfEngine(here.cost.runs_on[step]),
        here.cost.engine[step]);
    transfer_all(Direction::kWrite, op);
  }
  put({.kind = ActivityKind::kCopy}, tracks_.OfEngine(here.cost.runs_on.back()), here.cost.copies);
  if (next != nullptr) base::Accumulate(slot.cycles, here.cost.IdleCycles());
  return slot;
}

// Adds the engine's steps, the slices that must arrive during each, and copies of kept rows.
void Layout::AddPass(const TileWork& here, const TileWork* next, Slot& slot) const {
  if (here.cost.side_by_side) return AddStages(here, costs_, tiling_.interval, tracks_, slot);
  const size_t steps = here.cost.engine.size();
  for (size_t step = 0; step < steps; ++step) {
    const int op = tiling_.interval.first + static_cast<int>(step);
    const int64_t begin = slot.cycles;
    const auto put = [&](Activity activity, int track, int64_t from, int64_t cycles) {
      if (cycles == 0) return;
      activity.track = track;
      activity.begin = from;
      activity.end = from + cycles;
      slot.cycles = std::max(slot.cycles, activity.end);
      slot.activities.push_back(activity);
    };
    put({.kind = ActivityKind::kCompute, .op = op}, tracks_.OfEngine(here.cost.runs_on[step]),
        begin, here.cost.engine[step]);
    std::map<int, int64_t> arrived;  // by track
    ForEachSlices(here, step, [&](int track, const SliceFlow& own) {
      put({.kind = ActivityKind::kSlices, .op = op, .bytes = own.later_bytes}, track, begin,
          own.later_cycles);
      arrived[track] = begin + own.later_cycles;
    });
    const bool ends = step + 1 == steps;
    if (ends && next == nullptr) continue;
    ForEachSlices(ends ? *next : here, ends ? 0 : step + 1,
                  [&](int track, const SliceFlow& following) {
                    put({.kind = ActivityKind::kSlices,
                         .tile = ends ? 1 : 0,
                         .op = ends ? tiling_.interval.first : op + 1,
                         .bytes = following.first_bytes},
                        track, arrived[track], following.first_cycles);
                  });
  }
  if (here.cost.copies == 0) return;
  const int64_t begin = slot.cycles;
  slot.cycles += here.cost.copies;
  slot.activities.push_back({.begin = begin,
                             .end = slot.cycles,
                             .track = tracks_.OfEngine(here.cost.runs_on.back()),
                             .kind = ActivityKind::kCopy});
}

// A tile is computed while the next one arrives and the previous one leaves.
Slot Layout::DoubleBuffered(const TileWork* previous, const TileWork& here,
                            const TileWork* next) const {
  Slot slot;
  AddPass(here, next, slot);
  if (next != nullptr) base::Accumulate(slot.cycles, here.cost.IdleCycles());
  const auto fill = [](const TileWork* work, Direction direction, int memory, int64_t tile,
                       Filling& filling) {
    if (work == nullptr) return;
    for (const TensorTransfer& transfer : work->transfers) {
      if (transfer.memory == memory && transfer.direction == direction)
        filling.Add(AsActivity(transfer, tile), transfer.cycles);
    }
  };
  for (int memory = 0; memory < static_cast<int>(profile_.memories.size()); ++memory) {
    if (memory == profile_.tile_memory) continue;
    const int in_track = tracks_.OfMemory(memory, Direction::kRead);
    const int out_track = tracks_.OfMemory(memory, Direction::kWrite);
    const Flow& flow = here.cost.flows[static_cast<size_t>(memory)];
    const Activity read = {.kind = ActivityKind::kDirect,
                           .bytes = flow.direct_read_bytes + flow.direct_constant_bytes};
    const Activity write = {.kind = ActivityKind::kDirect, .bytes = flow.direct_write_bytes};
    Filling in(slot, in_track);
    in.Add(read, flow.direct_read_cycles);
    if (in_track == out_track) in.Add(write, flow.direct_write_cycles);
    fill(next, Direction::kRead, memory, 1, in);
    Filling apart(slot, out_track);
    if (in_track != out_track) apart.Add(write, flow.direct_write_cycles);
    fill(previous, Direction::kWrite, memory, -1, in_track == out_track ? in : apart);
  }
  const auto cost_of = [](const TileWork* work) { return work == nullptr ? nullptr : &work->cost; };
  slot.at_tile_memory = TileMemoryTraffic(cost_of(previous), here.cost, cost_of(next), constants_);
  slot.cycles = std::max(slot.cycles, TilePortCycles(slot.at_tile_memory));
  return slot;
}

// Places prefetches on their track: as many as fill the time that the slot leaves free, or all.
// `left`: the cycles of each of Prefetches::carried that have no place yet.
Slot Layout::WithPrefetches(Slot slot, bool all, std::vector<int64_t>& left) const {
  for (size_t i = 0; i < left.size(); ++i) {
    const Prefetches::Part& part = prefetches_.carried[i];
    const int track = TrackFrom(part.home);
    const int64_t here = all ? left[i] : std::min(FreeCycles(slot, track), left[i]);
    Filling(slot, track).Add({.kind = ActivityKind::kPrefetch, .bytes = part.bytes}, here);
    left[i] -= here;
  }
  return slot;
}

SubgraphTimeline Layout::Run(int64_t most_tiles) {
  timeline_ = {};
  timeline_.tracks = tracks_.All();
  timeline_.busy.resize(timeline_.tracks.size());
  const int64_t tiles = Slots();
  const int64_t tail = tiles <= most_tiles ? 0 : std::max<int64_t>(1, most_tiles / 3);
  const int64_t head = tiles <= most_tiles ? tiles : std::max<int64_t>(1, most_tiles - tail);
  std::map<std::tuple<const TileWork*, const TileWork*, const TileWork*>, Slot> slots;
  Append(Prologue(), 0, true, timeline_);
  const int64_t prologue = timeline_.cycles;
  std::vector<int64_t> left;
  Touched at_tile_memory;
  for (const Prefetches::Part& part : prefetches_.carried) {
    left.push_back(CarriedCycles(profile_, part));
    base::Accumulate(at_tile_memory.written, part.bytes);
  }
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const TileWork* here = WorkOf(tile);
    const TileWork* previous = double_buffered_ ? WorkOf(tile - 1) : nullptr;
    const TileWork* next = WorkOf(tile + 1);
    const auto [slot, added] = slots.try_emplace({previous, here, next});
    if (added)
      slot->second =
          double_buffered_ ? DoubleBuffered(previous, *here, next) : Serialized(*here, next);
    at_tile_memory.Add(slot->second.at_tile_memory);
    const bool shown = tile < head || tile >= tiles - tail;
    if (tile == head)
      timeline_.omissions.push_back(
          {head, tiles - tail - head, timeline_.cycles, timeline_.cycles});
    Append(WithPrefetches(slot->second, false, left), tile, shown, timeline_);
    if (!shown) timeline_.omissions.back().end = timeline_.cycles;
  }
  Slot last = WithPrefetches(Epilogue(), true, left);
  at_tile_memory.Add(last.at_tile_memory);
  if (!left.empty()) {
    const int64_t end = base::SaturatingAdd(prologue, TilePortCycles(at_tile_memory));
    last.cycles = std::max(last.cycles, end - timeline_.cycles);
  }
  Append(last, tiles - 1, true, timeline_);
  std::stable_sort(timeline_.activities.begin(), timeline_.activities.end(),
                   [](const Activity& a, const Activity& b) {
                     return std::pair(a.begin, a.track) < std::pair(b.begin, b.track);
                   });
  return std::move(timeline_);
}

}  // namespace

SubgraphTimeline TimelineOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                            const graph::tiling::TiledSubgraph& tiling,
                            const encoder::program::Policy& policy, int64_t most_tiles,
                            const Prefetches& prefetches) {
  return Layout(graph, profile, tiling, policy, prefetches).Run(most_tiles);
}

SubgraphTimeline PlannedTimeline(const plan::Plan& plan, size_t subgraph, int64_t most_tiles) {
  const plan::Subgraph& part = plan.subgraphs[subgraph];
  const graph::tiling::TiledSubgraph tiling =
      encoder::program::CutTiles(plan.network, part.interval, part.tile, part.halo);
  return TimelineOf(plan.network, plan.profile, tiling, PolicyOf(part, plan.kept), most_tiles,
                    PrefetchesOf(plan.network, plan.profile, plan.subgraphs, subgraph));
}

}  // namespace tessera::search::cost

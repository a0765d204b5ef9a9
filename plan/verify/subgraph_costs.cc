// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/residency.h"

// The time of a subgraph is a row of slots, one for each tile. With serialized transfers, a slot is
// the sum of its transfers and computation. With double-buffered transfers the engine's pass over
// tile i runs at the same time as the transfers that fill tile i + 1 and empty tile i - 1, and the
// slot ends with the last of them:
//
//     P         | slot 0     | slot 1               | ..  | slot N-1    | E
//     load 0    | compute 0  | compute 1            |     | compute N-1 |
//     constants | load 1     | load 2, store 0      |     | store N-2   | store N-1
//     '- - - - - - - - - constants of later subgraphs - - - - - - - - - - - - - - '
//
// Between two tiles the engines idle: a part of the pass, or of the sum.
//
// So a slot follows from three consecutive tiles. The cost of a tile follows from its extents, so
// it is computed once for all tiles with the same extents; the rest is a walk over all tiles.
// docs/program.md, Costs, has every formula. Cost: tiles times tensors, and different tiles times
// operators.
namespace tessera::plan::verify {

using hw_profiles::HaloStorage;

namespace {

int64_t RowsOf(const Box& box) { return ExtentsOf(box)[*RowAxisOf(box.size())]; }

// All engines of a tile idle from its end on, so the longest time counts.
int64_t IdleBeforeNext(const TileCost& tile) {
  const auto idle_of = [](const StepCost& step) {
    return step.engine == nullptr ? 0 : step.engine->idle_cycles_between_tiles;
  };
  int64_t longest = 0;
  for (const StepCost& step : tile.steps) longest = std::max(longest, idle_of(step));
  return longest;
}

}  // namespace

CostCount::CostCount(const Plan& plan, const std::vector<Users>& users, int subgraph)
    : plan_(plan),
      users_(users),
      subgraph_(subgraph),
      costing_(plan, users, Current()),
      own_(ConstantsOf(Current(), std::nullopt)),
      rest_(ConstantsOf(Current(), 0)),
      carried_(CarriedIn(subgraph)) {
  for (size_t i = 0; i < rest_.size(); ++i)
    rest_[i].cycles = CyclesInQueue(plan.profile, static_cast<int>(i), rest_[i].transfers, 1);
  Request(carried_);
  for (size_t i = 0; i < carried_.size(); ++i) {
    const std::vector<Waiting>& transfers = carried_[i].transfers;
    carried_[i].cycles = CyclesInQueue(plan.profile, static_cast<int>(i), transfers,
                                       static_cast<int64_t>(transfers.size()));
  }
}

void CostCount::Add(const Tile& tile) {
  std::vector<int64_t> extents;
  const auto append = [&extents](const std::map<int, Box>& boxes) {
    for (const auto& [tensor, box] : boxes) {
      for (const int64_t extent : ExtentsOf(box)) extents.push_back(extent);
    }
  };
  append(tile.needs);
  append(tile.makes);
  append(tile.shares);
  for (const auto& [tensor, need] : tile.needs) {
    const auto kept = tile.kept.find(tensor);
    extents.push_back(kept == tile.kept.end() ? 0 : RowsOf(kept->second));
  }
  const auto [number, is_new] =
      numbers_.try_emplace(std::move(extents), static_cast<int>(alike_.size()));
  if (is_new) {
    alike_.push_back({costing_.CostOf(tile), tile.kept, 0});
    if (Current().second_stage > 0)
      alike_.back().stages = {costing_.CostOf(tile, false), costing_.CostOf(tile, true)};
    largest_.Add(tile);
  }
  ++alike_[static_cast<size_t>(number->second)].count;
  order_.push_back(number->second);
}

// The cost to copy the kept rows of the tile, with the width that the widest tile needs.
CostCount::Moved CostCount::CopiesOf(const Alike& tile) const {
  Moved copies;
  for (const auto& [tensor, kept] : tile.kept) {
    const Held& held = costing_.HeldOf(tensor);
    const bool has_tiles = held.residency == Residency::kInner ||
                           held.residency == Residency::kLoaded ||
                           held.residency == Residency::kStored;
    if (!has_tiles) continue;
    std::vector<int64_t> extents = largest_.Extents().at(tensor);
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      if (MeaningOf(extents.size(), axis) == base::Axis::kRows) extents[axis] = RowsOf(kept);
    }
    const int64_t bytes = PayloadOf(plan_.network.tensors[static_cast<size_t>(tensor)], extents,
                                    hw_profiles::LayoutOf(plan_.profile, held.role));
    const auto here = static_cast<size_t>(plan_.profile.tile_memory);
    copies.bytes = Plus(copies.bytes, bytes);
    copies.cycles =
        Plus(copies.cycles, PortCycles(plan_.profile.memories[here].port, bytes, bytes));
  }
  return copies;
}

// The bytes of kept rows that all tiles copy: saved, and with `line_buffer` also restored.
int64_t CostCount::CopiedBytes() const {
  const HaloStorage halo = Current().halo;
  if (halo != HaloStorage::kLineBuffer && halo != HaloStorage::kAdjacent) return 0;
  int64_t bytes = 0;
  for (const Alike& tile : alike_) bytes = Plus(bytes, Times(tile.count, CopiesOf(tile).bytes));
  return halo == HaloStorage::kLineBuffer ? Times(2, bytes) : bytes;
}

// Kept rows are saved once after the previous tile, and with `line_buffer` also restored.
int64_t CostCount::CopyCycles(const Neighbours& tiles) const {
  const HaloStorage halo = Current().halo;
  if (halo != HaloStorage::kLineBuffer && halo != HaloStorage::kAdjacent) return 0;
  const int64_t saves = tiles[2] < 0 ? 0 : CopiesOf(alike_[static_cast<size_t>(tiles[2])]).cycles;
  return halo == HaloStorage::kAdjacent
             ? saves
             : Plus(saves, CopiesOf(alike_[static_cast<size_t>(tiles[1])]).cycles);
}

// The cycles of the tile memory's port while a tile is computed: its own bytes, but the loads and
// the first slices of the next tile, and the stores of the previous one.
int64_t CostCount::TilePortCycles(const Neighbours& tiles) const {
  const auto here = static_cast<size_t>(plan_.profile.tile_memory);
  const auto cost_of = [&](int tile) -> const TileCost& { return CostAt(tile); };
  const MemoryCost& own = cost_of(tiles[1]).memories[here];
  int64_t read = Plus(own.bytes_read, own.unused_bytes);
  int64_t written = own.bytes_written;
  for (size_t i = 0; i < plan_.profile.memories.size(); ++i) {
    read -= cost_of(tiles[1]).memories[i].store_bytes;
    written -= cost_of(tiles[1]).memories[i].load_bytes;
    if (tiles[0] >= 0) read = Plus(read, cost_of(tiles[0]).memories[i].store_bytes);
    written -= cost_of(tiles[1]).steps.front().slices[i].first_bytes;
    if (tiles[2] < 0) continue;
    written = Plus(written, cost_of(tiles[2]).memories[i].load_bytes);
    written = Plus(written, cost_of(tiles[2]).steps.front().slices[i].first_bytes);
  }
  const HaloStorage halo = Current().halo;
  const bool restores = halo == HaloStorage::kLineBuffer;
  const bool saves = (restores || halo == HaloStorage::kAdjacent) && tiles[2] >= 0;
  int64_t copied = restores ? CopiesOf(alike_[static_cast<size_t>(tiles[1])]).bytes : 0;
  if (saves) copied = Plus(copied, CopiesOf(alike_[static_cast<size_t>(tiles[2])]).bytes);
  return PortCycles(plan_.profile.memories[here].port, Plus(read, copied), Plus(written, copied));
}

// The later slices of a step, and the first ones of the next step, possibly that of the next tile.
int64_t CostCount::SlicesDuring(const Neighbours& tiles, size_t step, size_t memory) const {
  const std::vector<StepCost>& steps = CostAt(tiles[1]).steps;
  const int64_t later = steps[step].slices[memory].later;
  if (step + 1 < steps.size()) return Plus(later, steps[step + 1].slices[memory].first);
  if (tiles[2] < 0) return later;
  return Plus(later, CostAt(tiles[2]).steps.front().slices[memory].first);
}

// The cycles of a tile in which engines work, copy kept rows, or idle before the next tile.
int64_t CostCount::WorkCycles(const Neighbours& tiles) const {
  const TileCost& here = CostAt(tiles[1]);
  int64_t cycles = Plus(CopyCycles(tiles), tiles[2] < 0 ? 0 : IdleBeforeNext(here));
  if (here.side_by_side) return Plus(cycles, *here.side_by_side);
  for (const StepCost& step : here.steps) cycles = Plus(cycles, step.cycles);
  return cycles;
}

int64_t CostCount::PassOf(const Neighbours& tiles) const {
  const TileCost& here = CostAt(tiles[1]);
  int64_t pass = Plus(CopyCycles(tiles), tiles[2] < 0 ? 0 : IdleBeforeNext(here));
  if (here.side_by_side) return Plus(pass, *here.side_by_side);
  const std::vector<StepCost>& steps = here.steps;
  for (size_t step = 0; step < steps.size(); ++step) {
    int64_t cycles = steps[step].cycles;
    for (size_t memory = 0; memory < plan_.profile.memories.size(); ++memory)
      cycles = std::max(cycles, SlicesDuring(tiles, step, memory));
    pass = Plus(pass, cycles);
  }
  return pass;
}

int64_t CostCount::PortCyclesOf(size_t memory, int64_t in, int64_t out) const {
  return TakesTurns(plan_.profile, static_cast<int>(memory)) ? Plus(in, out) : std::max(in, out);
}

CostCount::Slot CostCount::SlotOf(int64_t cycles, const std::vector<int64_t>& bytes) const {
  Slot slot{.cycles = cycles, .bytes_per_cycle = 0};
  int64_t total = 0;
  for (const int64_t of_memory : bytes) total = Plus(total, of_memory);
  if (cycles > 0) slot.bytes_per_cycle = static_cast<double>(total) / static_cast<double>(cycles);
  return slot;
}

CostCount::Slot CostCount::SerializedSlot(const Neighbours& tiles) const {
  const TileCost& here = CostAt(tiles[1]);
  int64_t cycles = WorkCycles(tiles);
  std::vector<int64_t> bytes(here.memories.size());
  for (const StepCost& step : here.steps) {
    for (const SliceCycles& slices : step.slices)
      cycles = Plus(cycles, Plus(slices.first, slices.later));
  }
  for (size_t i = 0; i < here.memories.size(); ++i) {
    const MemoryCost& memory = here.memories[i];
    cycles = Plus(cycles, Plus(memory.load, memory.store));
    bytes[i] = Plus(memory.other_bytes, Plus(memory.load_bytes, memory.store_bytes));
  }
  for (size_t i = 0; i < here.memories.size() && tiles[0] < 0; ++i) {
    cycles = Plus(cycles, rest_[i].cycles);
    bytes[i] = Plus(bytes[i], rest_[i].bytes);
  }
  return SlotOf(cycles, bytes);
}

// P belongs to the first slot, E to the last.
CostCount::Slot CostCount::DoubleBufferedSlot(const Neighbours& tiles) const {
  const bool first = tiles[0] < 0;
  const bool last = tiles[2] < 0;
  const TileCost& here = CostAt(tiles[1]);
  int64_t during = PassOf(tiles);
  int64_t before = 0;
  int64_t after = 0;
  std::vector<int64_t> bytes(here.memories.size());
  for (size_t i = 0; i < here.memories.size(); ++i) {
    const MemoryCost& memory = here.memories[i];
    const MemoryCost next = last ? MemoryCost{} : CostAt(tiles[2]).memories[i];
    const MemoryCost previous = first ? MemoryCost{} : CostAt(tiles[0]).memories[i];
    int64_t in = Plus(next.load, memory.read);
    for (size_t step = 0; step < here.steps.size(); ++step)
      in = Plus(in, SlicesDuring(tiles, step, i));
    const int64_t out = Plus(previous.store, memory.written);
    during = std::max(during, PortCyclesOf(i, in, out));
    bytes[i] = Plus(memory.other_bytes, Plus(next.load_bytes, previous.store_bytes));
    if (first) {
      const int64_t arrives = Plus(memory.load, here.steps.front().slices[i].first);
      before = std::max(before, Plus(arrives, rest_[i].cycles));
      bytes[i] = Plus(bytes[i], Plus(memory.load_bytes, rest_[i].bytes));
    }
    if (last) {
      after = std::max(after, memory.store);
      bytes[i] = Plus(bytes[i], memory.store_bytes);
    }
  }
  during = std::max(during, TilePortCycles(tiles));
  return SlotOf(Plus(before, Plus(during, after)), bytes);
}

void CostCount::AddEnergy(const Work& work, Metrics& metrics) const {
  const hw_profiles::Profile& profile = plan_.profile;
  double mac_pj = 0;
  std::map<int, int64_t> measured_macs;
  for (const Alike& tile : alike_) {
    for (size_t i = 0; i < tile.cost.steps.size(); ++i) {
      const StepCost& step = tile.cost.steps[i];
      if (!step.measured_pj) continue;
      int64_t& macs = measured_macs[Current().interval.first + static_cast<int>(i)];
      macs = Plus(macs, Times(tile.count, step.macs));
      mac_pj += static_cast<double>(tile.count) * *step.measured_pj;
    }
  }
  for (const auto& [op, macs] : work.macs_of) {
    const hw_profiles::Engine* engine =
        EngineOf(plan_, plan_.network.operators[static_cast<size_t>(op)]);
    if (engine != nullptr)
      mac_pj += hw_profiles::MacPicojoules(*engine) * static_cast<double>(macs - measured_macs[op]);
  }
  const double seconds =
      profile.clock_hz > 0 ? static_cast<double>(metrics.latency_cycles) / profile.clock_hz : 0;
  double leakage_mw = 0;
  for (const hw_profiles::Memory& memory : profile.memories) leakage_mw += memory.leakage_mw;
  metrics.energy_by_part = {{"mac", mac_pj}, {"leakage", leakage_mw * 1e9 * seconds}};

  const auto tile_memory = static_cast<size_t>(profile.tile_memory);
  const int64_t copied = CopiedBytes();
  int64_t loaded = 0;
  for (const Moved& own : own_) loaded = Plus(loaded, own.bytes);
  for (size_t i = 0; i < profile.memories.size(); ++i) {
    int64_t read = Plus(own_[i].bytes, i == tile_memory ? copied : 0);
    int64_t written = i == tile_memory ? Plus(loaded, copied) : 0;
    for (const Alike& tile : alike_) {
      read = Plus(read, Times(tile.count, tile.cost.memories[i].bytes_read));
      written = Plus(written, Times(tile.count, tile.cost.memories[i].bytes_written));
    }
    metrics.energy_by_part[profile.memories[i].name] +=
        static_cast<double>(read) * profile.memories[i].read_pj_per_byte +
        static_cast<double>(written) * profile.memories[i].write_pj_per_byte;
  }
  for (const auto& [part, energy] : metrics.energy_by_part) metrics.energy_pj += energy;
}

Metrics CostCount::Finish(const Work& work) {
  if (Current().second_stage > 0) PairStages();
  Metrics metrics;
  metrics.clock_hz = plan_.profile.clock_hz;
  metrics.macs = work.macs;
  metrics.recomputed_macs = work.recomputed_macs;
  metrics.unknown_work = work.unknown_work;
  for (const std::string cause : {"inputs", "outputs", "weights"}) {
    const auto bytes = work.off_chip.find(cause);
    const int64_t moved = bytes == work.off_chip.end() ? 0 : bytes->second;
    metrics.off_chip_by_cause[cause] = moved;
    metrics.off_chip_bytes = Plus(metrics.off_chip_bytes, moved);
  }
  const bool double_buffered = IsDoubleBuffered(plan_, Current());
  std::map<Neighbours, Slot> slots;
  for (size_t i = 0; i < order_.size(); ++i) {
    const Neighbours tiles = NeighboursOf(i);
    auto slot = slots.find(tiles);
    if (slot == slots.end())
      slot =
          slots.emplace(tiles, double_buffered ? DoubleBufferedSlot(tiles) : SerializedSlot(tiles))
              .first;
    metrics.latency_cycles = Plus(metrics.latency_cycles, slot->second.cycles);
    metrics.exposed_cycles = Plus(metrics.exposed_cycles, slot->second.cycles - WorkCycles(tiles));
    metrics.peak_bytes_per_cycle =
        std::max(metrics.peak_bytes_per_cycle, slot->second.bytes_per_cycle);
  }
  const int64_t longer = std::max<int64_t>(0, CyclesToCarry() - metrics.latency_cycles);
  metrics.latency_cycles = Plus(metrics.latency_cycles, longer);
  metrics.exposed_cycles = Plus(metrics.exposed_cycles, longer);
  int64_t carried = 0;
  for (const Moved& constants : carried_) carried = Plus(carried, constants.bytes);
  if (metrics.latency_cycles > 0)
    metrics.peak_bytes_per_cycle +=
        static_cast<double>(carried) / static_cast<double>(metrics.latency_cycles);
  AddEnergy(work, metrics);
  return metrics;
}

Metrics CostOf(const Plan& plan, const std::vector<Users>& users, int subgraph) {
  const Subgraph& current = plan.subgraphs[static_cast<size_t>(subgraph)];
  WorkCount work(plan, users, current);
  CostCount costs(plan, users, subgraph);
  ForEachTile(plan.network, users, current, [&](const Tile& tile) {
    work.Add(tile);
    costs.Add(tile);
  });
  return costs.Finish(work.Finish());
}

}  // namespace tessera::plan::verify

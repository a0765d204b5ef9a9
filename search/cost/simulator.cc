// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/simulator.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/regions.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/stage_slots.h"

// A subgraph is a sequence of slots, one for each tile. With `dma: serialized` nothing overlaps:
//
//    slot i:  loads | step 0 | step 1 | .. | stores | idle    slot 0 begins with the resident
//                                                             constants; the last has no idle time
//
// With `dma: double_buffered` engines and links work concurrently. A tile is loaded while the
// previous one is computed and the one before that is stored:
//
//     prologue | slot 0     | slot 1          | slot 2   ..  | slot N-1          | epilogue
//     load 0   | compute 0  | compute 1       | compute 2    | compute N-1       |
//     constants| load 1     | load 2, store 0 | load 3 ..    | store N-2         | store N-1
//              '- - - - - - - - - - - - prefetched constants - - - - - - - - - - - - -'
//
// Constants prefetched for later subgraphs use the free time of their port in all slots and in the
// epilogue, and extend the subgraph if necessary. A later subgraph then has no constants in its
// prologue. A slot lasts as long as the busiest of the engine pass and the ports. Streamed slices
// belong to the slot too: those after the first arrive during their own step, the first during the
// previous step. This holds for constants and for operands cut along K, from all homes in parallel.
// Steps that copy kept rows delay the engine, as does the time for which engines idle between two
// tiles. Only the classes of three adjacent tiles determine a slot, so the costs of a class are
// computed once and the loop over tiles only compares numbers. Cost: O(classes * operators + tiles
// * memories).
namespace tessera::search::cost {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// Classes, or tiles, between two polls of a stop.
size_t BetweenPolls(const graph::tiling::TiledSubgraph& tiling) {
  constexpr int kOperators = 4'096;
  return static_cast<size_t>(
      std::max(1, kOperators / (tiling.interval.last - tiling.interval.first + 1)));
}

// The sums over the slots of one subgraph.
class SlotSums {
 public:
  SlotSums(const graph::Graph& graph, const Profile& profile,
           const std::vector<int64_t>& whole_macs, const graph::tiling::TiledSubgraph& tiling,
           const ClassCosts& costs, const encoder::program::Policy& policy,
           const Prefetches& prefetches, const base::Stop* stop)
      : graph_(graph),
        profile_(profile),
        whole_macs_(whole_macs),
        tiling_(tiling),
        costs_(costs.subgraph),
        classes_(costs.tiles),
        prefetches_(prefetches),
        stop_(stop),
        double_buffered_(encoder::program::DmaOf(profile, policy) == DmaSteps::kDoubleBuffered),
        streams_(policy.weights == WeightPolicy::kStreamed),
        constants_(costs_.ConstantFlowsOf(policy.weights, prefetches.own)),
        slots_(costs.stages.costs.empty() ? classes_ : costs.stages.costs),
        slot_class_of_(costs.stages.costs.empty() ? tiling.class_of : costs.stages.class_of) {}

  PortTimes Ports() const {
    plan::Metrics metrics;
    PortTimes ports;
    AddTime(metrics, &ports);
    ports.latency = metrics.latency_cycles;
    return ports;
  }

  plan::Metrics Run(Detail detail) const {
    plan::Metrics metrics;
    metrics.clock_hz = profile_.clock_hz;
    PortTimes ports;
    const SlotTimes times = AddTime(metrics, prefetches_.carried.empty() ? nullptr : &ports);
    AddCarried(std::move(ports), metrics);
    AddOffChipBytes(tiling_, classes_, constants_, detail, metrics);
    AddMacsAndEnergy(detail, metrics);
    const bool waits = times.apart > metrics.latency_cycles / 2;
    metrics.bound_by = waits ? "exposed transfers"
                             : LongestPath(profile_, tiling_, classes_, constants_, prefetches_,
                                           times.tile_port, times.side_by_side);
    return metrics;
  }

 private:
  struct SlotTimes {
    int64_t apart = 0;         // cycles of transfers that overlap with no step
    int64_t tile_port = 0;     // cycles of the tile memory's port
    int64_t side_by_side = 0;  // cycles of the steps of two stages
  };

  struct Slot : SlotTimes {
    int64_t cycles = 0;
    int64_t busy = 0;            // cycles in which engines do not wait
    std::vector<int64_t> bytes;  // parallel to Profile::memories
    PortTimes ports;             // but the latency
  };

  // The classes of a tile and of both neighbours, -1 if there is none. They determine its slot.
  using Neighbours = std::array<int, 3>;

  // With two stages, a "tile" is a slot: the first stage on it, the second on the one before.
  const TileCost& TileAt(size_t tile) const {
    return slots_[static_cast<size_t>(slot_class_of_[tile])];
  }
  bool IsLast(size_t tile) const { return tile + 1 == slot_class_of_.size(); }

  // The flow of the constants whose home is this memory; nullptr if there are none.
  const ConstantFlow* FlowFrom(size_t memory) const {
    for (const ConstantFlow& flow : constants_) {
      if (flow.home == static_cast<int>(memory)) return &flow;
    }
    return nullptr;
  }

  // All slices of a tile from one memory; the first one of its first operator is separate.
  SliceFlow SlicesOf(size_t tile, size_t memory) const {
    SliceFlow flow;
    if (costs_.IsSplitK()) flow = TileAt(tile).split_k.memories[memory];
    const ConstantFlow* constants = streams_ ? FlowFrom(memory) : nullptr;
    if (constants == nullptr) return flow;
    flow.first_cycles = constants->first_slice_cycles;
    flow.later_cycles = constants->streamed_cycles - constants->first_slice_cycles;
    flow.later_bytes = constants->streamed_bytes;
    return flow;
  }

  // The cycles of all slices of the tile but the first, and of the first of the next tile.
  int64_t SlicesDuring(size_t tile, size_t memory) const {
    const int64_t next = IsLast(tile) ? 0 : SlicesOf(tile + 1, memory).first_cycles;
    return base::SaturatingAdd(SlicesOf(tile, memory).later_cycles, next);
  }

  int64_t IdleAfter(size_t tile) const { return IsLast(tile) ? 0 : TileAt(tile).IdleCycles(); }

  int64_t BusyIn(size_t tile) const {
    int64_t busy = base::SaturatingAdd(TileAt(tile).copies, IdleAfter(tile));
    if (const auto& cycles = TileAt(tile).side_by_side) return base::SaturatingAdd(busy, *cycles);
    for (const int64_t cycles : TileAt(tile).engine) base::Accumulate(busy, cycles);
    return busy;
  }

  int64_t PortBusy(size_t memory, int64_t in, int64_t out) const {
    return WorksInTurn(profile_, static_cast<int>(memory)) ? base::SaturatingAdd(in, out)
                                                           : std::max(in, out);
  }

  int64_t PassOf(size_t tile) const;
  Slot SerializedSlot(size_t tile) const;
  Slot DoubleBufferedSlot(size_t tile) const;
  SlotTimes AddTime(plan::Metrics& metrics, PortTimes* ports) const;
  void AddCarried(PortTimes times, plan::Metrics& metrics) const;
  void AddMacsAndEnergy(Detail detail, plan::Metrics& metrics) const;

  const graph::Graph& graph_;
  const Profile& profile_;
  const std::vector<int64_t>& whole_macs_;
  const graph::tiling::TiledSubgraph& tiling_;
  const TileCosts& costs_;
  const std::vector<TileCost>& classes_;
  const Prefetches prefetches_;
  const base::Stop* stop_;
  bool double_buffered_;
  bool streams_;                         // some constants may come in slices
  std::vector<ConstantFlow> constants_;  // parallel to TileCosts::ConstantHomes if they are moved
  const std::vector<TileCost>& slots_;   // in time: the classes, or the slots of two stages
  const std::vector<int>& slot_class_of_;
};

// The engine's steps, each with the slices that must arrive during it. After the last tile there is
// no next first slice.
int64_t SlotSums::PassOf(size_t index) const {
  const TileCost& tile = TileAt(index);
  const bool last = IsLast(index);
  int64_t pass = base::SaturatingAdd(tile.copies, IdleAfter(index));
  if (tile.side_by_side) return base::SaturatingAdd(pass, *tile.side_by_side);
  for (size_t step = 0; step < tile.engine.size(); ++step) {
    int64_t slices = 0;
    for (size_t home = 0; home < constants_.size() && streams_; ++home) {
      if (!constants_[home].rest.empty()) {
        slices = std::max(slices, constants_[home].rest[step].later_cycles);
        continue;
      }
      const std::span<const ConstantCost> constants = costs_.ConstantsIn(home);
      const size_t next = (step + 1) % tile.engine.size();
      int64_t from_here = constants[step].later_slices_cycles;
      if (next != 0 || !last) base::Accumulate(from_here, constants[next].first_slice_cycles);
      slices = std::max(slices, from_here);
    }
    for (size_t memory = 0; memory < tile.split_k.memories.size(); ++memory)
      slices = std::max(slices, SlicesDuring(index, memory));
    base::Accumulate(pass, std::max(tile.engine[step], slices));
  }
  return pass;
}

SlotSums::Slot SlotSums::SerializedSlot(size_t tile) const {
  const TileCost& cost = TileAt(tile);
  Slot slot;
  slot.tile_port = cost.tile_memory;
  slot.cycles = slot.busy = BusyIn(tile);
  slot.bytes.resize(profile_.memories.size());
  for (size_t memory = 0; memory < cost.flows.size(); ++memory) {
    const Flow& flow = cost.flows[memory];
    base::Accumulate(slot.cycles, base::SaturatingAdd(flow.load_cycles, flow.store_cycles));
    const SliceFlow slices = SlicesOf(tile, memory);
    base::Accumulate(slot.cycles, slices.Cycles());
    slot.bytes[memory] = base::SaturatingAdd(flow.Bytes(), slices.Bytes());
  }
  for (size_t i = 0; i < constants_.size() && tile == 0; ++i) {
    base::Accumulate(slot.cycles, constants_[i].resident_cycles);
    base::Accumulate(slot.bytes[static_cast<size_t>(constants_[i].home)],
                     constants_[i].resident_bytes);
  }
  slot.apart = slot.cycles - slot.busy;
  return slot;
}

// The prologue counts as part of the first slot, the epilogue as part of the last.
SlotSums::Slot SlotSums::DoubleBufferedSlot(size_t tile) const {
  const TileCost& cost = TileAt(tile);
  const bool first = tile == 0;
  const bool last = IsLast(tile);
  const TileCost* previous = first ? nullptr : &TileAt(tile - 1);
  const TileCost* next = last ? nullptr : &TileAt(tile + 1);
  const Flow nothing;
  Slot slot;
  slot.ports.at_tile_memory = TileMemoryTraffic(previous, cost, next, constants_);
  slot.tile_port = PortCycles(profile_.memories[static_cast<size_t>(profile_.tile_memory)].port,
                              slot.ports.at_tile_memory);
  slot.cycles = PassOf(tile);
  slot.busy = BusyIn(tile);
  for (auto* list : {&slot.bytes, &slot.ports.in, &slot.ports.out})
    list->resize(profile_.memories.size());
  slot.apart = slot.cycles - slot.busy;
  int64_t epilogue = 0;
  for (size_t memory = 0; memory < slot.bytes.size(); ++memory) {
    const Flow& here = cost.flows[memory];
    const Flow& loaded = last ? nothing : next->flows[memory];
    const Flow& stored = first ? nothing : previous->flows[memory];
    const SliceFlow slices = SlicesOf(tile, memory);
    const int64_t in =
        base::SaturatingAdd(base::SaturatingAdd(loaded.load_cycles, here.direct_read_cycles),
                            SlicesDuring(tile, memory));
    const int64_t out = base::SaturatingAdd(stored.store_cycles, here.direct_write_cycles);
    slot.cycles = std::max(slot.cycles, PortBusy(memory, in, out));
    slot.ports.in[memory] = in;
    slot.ports.out[memory] = base::SaturatingAdd(out, last ? here.store_cycles : 0);
    slot.bytes[memory] = base::SaturatingAdd(
        base::SaturatingAdd(loaded.load_bytes, stored.store_bytes), here.DirectBytes());
    base::Accumulate(slot.bytes[memory], slices.Bytes());
    if (first) {
      int64_t arrives = base::SaturatingAdd(here.load_cycles, slices.first_cycles);
      base::Accumulate(slot.bytes[memory], here.load_bytes);
      if (const ConstantFlow* constants = FlowFrom(memory)) {
        base::Accumulate(arrives, constants->resident_cycles);
        base::Accumulate(slot.bytes[memory], constants->resident_bytes);
      }
      slot.ports.prologue = std::max(slot.ports.prologue, arrives);
    }
    if (last) {
      epilogue = std::max(epilogue, here.store_cycles);
      base::Accumulate(slot.bytes[memory], here.store_bytes);
      base::Accumulate(slot.ports.at_tile_memory.read, here.store_bytes);
    }
  }
  slot.cycles = std::max(slot.cycles, slot.tile_port);
  const int64_t around = base::SaturatingAdd(slot.ports.prologue, epilogue);
  base::Accumulate(slot.cycles, around);
  base::Accumulate(slot.apart, around);
  return slot;
}

// Returns the sums of all slots.
SlotSums::SlotTimes SlotSums::AddTime(plan::Metrics& metrics, PortTimes* ports) const {
  SlotTimes times;
  const std::vector<int>& class_of = slot_class_of_;
  Neighbours seen = {};
  Slot slot;
  if (ports != nullptr) ports->in = ports->out = std::vector<int64_t>(profile_.memories.size());
  const size_t between = BetweenPolls(tiling_);
  for (size_t tile = 0; tile < class_of.size(); ++tile) {
    if (stop_ != nullptr && tile % between == between - 1 && stop_->Requested()) return {};
    const Neighbours here = {tile == 0 ? -1 : class_of[tile - 1], class_of[tile],
                             tile + 1 == class_of.size() ? -1 : class_of[tile + 1]};
    const bool as_before = tile > 0 && here == seen;
    if (!as_before) slot = double_buffered_ ? DoubleBufferedSlot(tile) : SerializedSlot(tile);
    seen = here;
    base::Accumulate(metrics.latency_cycles, slot.cycles);
    base::Accumulate(metrics.exposed_cycles, slot.cycles - slot.busy);
    base::Accumulate(times.apart, slot.apart);
    base::Accumulate(times.tile_port, slot.tile_port);
    base::Accumulate(times.side_by_side, TileAt(tile).side_by_side.value_or(0));
    if (ports != nullptr) ports->Add(slot.ports);
    if (as_before || slot.cycles == 0) continue;
    int64_t total = 0;
    for (const int64_t bytes : slot.bytes) base::Accumulate(total, bytes);
    metrics.peak_bytes_per_cycle =
        std::max(metrics.peak_bytes_per_cycle,
                 static_cast<double>(total) / static_cast<double>(slot.cycles));
  }
  return times;
}

// Adds the time until the constants that the subgraph carries have arrived.
void SlotSums::AddCarried(PortTimes times, plan::Metrics& metrics) const {
  times.latency = metrics.latency_cycles;
  const int64_t latency = LatencyWith(profile_, times, prefetches_.carried);
  base::Accumulate(metrics.exposed_cycles, latency - metrics.latency_cycles);
  metrics.latency_cycles = latency;
  int64_t bytes = 0;
  for (const Prefetches::Part& part : prefetches_.carried) base::Accumulate(bytes, part.bytes);
  if (latency > 0)
    metrics.peak_bytes_per_cycle += static_cast<double>(bytes) / static_cast<double>(latency);
}

// Adds MACs and energy. Multiply-accumulates of an operator beyond those of its whole result count
// as recomputed.
void SlotSums::AddMacsAndEnergy(Detail detail, plan::Metrics& metrics) const {
  double mac_pj = 0;
  std::vector<int64_t> measured_macs(costs_.Operators());
  for (size_t i = 0; i < classes_.size(); ++i) {
    const graph::tiling::TileClass& tile = tiling_.classes[i];
    for (const auto& [step, pj] : classes_[i].measured_pj) {
      base::Accumulate(measured_macs[step], base::SaturatingMul(tile.count, tile.macs[step]));
      mac_pj += pj * static_cast<double>(tile.count);
    }
  }
  for (size_t step = 0; step < costs_.Operators(); ++step) {
    int64_t macs = 0;
    for (const graph::tiling::TileClass& tile : tiling_.classes)
      base::Accumulate(macs, base::SaturatingMul(tile.count, tile.macs[step]));
    const size_t op = static_cast<size_t>(tiling_.interval.first) + step;
    base::Accumulate(metrics.macs, macs);
    metrics.unknown_work += graph::HasUnknownWork(graph_.operators[op]) ? 1 : 0;
    metrics.recomputed_macs += std::max<int64_t>(0, macs - whole_macs_[op]);
    mac_pj += MacEnergy(graph_, profile_, graph_.operators[op], macs - measured_macs[step]);
  }
  FillEnergy(profile_, mac_pj, BytesTouched(profile_, tiling_, classes_, constants_), detail,
             metrics);
}

}  // namespace

Simulator::Simulator(const graph::Graph& graph, const Profile& profile)
    : graph_(&graph), profile_(&profile), usages_(graph::UsagesOf(graph)) {
  for (const graph::Operator& op : graph.operators) whole_macs_.push_back(graph::MacsOf(graph, op));
}

ClassCosts Simulator::CostsOf(const graph::tiling::TiledSubgraph& tiling,
                              const encoder::program::Policy& policy,
                              const base::Stop* stop) const {
  ClassCosts costs{.subgraph = TileCosts(*graph_, *profile_, usages_, tiling, policy),
                   .tiles = {},
                   .stages = {}};
  costs.tiles.reserve(tiling.classes.size());
  const size_t between = BetweenPolls(tiling);
  for (const graph::tiling::TileClass& tile : tiling.classes) {
    if (stop != nullptr && costs.tiles.size() % between == between - 1 && stop->Requested()) break;
    costs.tiles.push_back(costs.subgraph.CostOf(tile, blocks_));
  }
  if (policy.second_stage > 0) costs.stages = FindStageSlots(costs.subgraph, tiling, blocks_);
  return costs;
}

PortTimes Simulator::PortsOf(const graph::tiling::TiledSubgraph& tiling, const ClassCosts& costs,
                             const encoder::program::Policy& policy,
                             const std::vector<int>& prefetch) const {
  return SlotSums(*graph_, *profile_, whole_macs_, tiling, costs, policy, {.own = prefetch},
                  nullptr)
      .Ports();
}

plan::Metrics Simulator::Run(const graph::tiling::TiledSubgraph& tiling, const ClassCosts& costs,
                             const encoder::program::Policy& policy, Detail detail,
                             const Prefetches& prefetches, const base::Stop* stop) const {
  return SlotSums(*graph_, *profile_, whole_macs_, tiling, costs, policy, prefetches, stop)
      .Run(detail);
}

void Simulator::AddCopies(const graph::tiling::TiledSubgraph& tiling, ClassCosts& costs) {
  costs.subgraph.KeepByCopying(tiling);
  for (size_t i = 0; i < costs.tiles.size(); ++i)
    costs.subgraph.AddCopies(tiling.classes[i], costs.tiles[i]);
}

}  // namespace tessera::search::cost

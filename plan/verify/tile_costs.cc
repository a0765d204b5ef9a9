// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/in_place.h"
#include "tessera/plan/verify/work_count.h"

// A tile is visited twice. First tensor by tensor: data that crosses between the tile memory and
// the tensor's home, by transfer or by direct access of an engine, counts once, regardless of the
// number of its readers. Then operator by operator: each reads its operands and writes its results
// where they lie, and its step lasts as long as the slowest of its arithmetic and the ports that it
// uses.
namespace tessera::plan::verify {
namespace {

using Extents = std::vector<int64_t>;

void Add(int64_t& sum, int64_t part) { sum = Plus(sum, part); }

// A concatenation whose first operand is a state that stays in place, in the tile memory.
bool WritesBehindState(const Plan& plan, const std::vector<Users>& users,
                       const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kConcat) return false;
  const int state = plan.network.tensors[static_cast<size_t>(op.outputs.front())].next_of;
  return state >= 0 && state == op.inputs.front() && IsStateInTileMemory(plan, state) &&
         IsStateInTileMemory(plan, op.outputs.front()) &&
         MayTakePlaceOfState(plan, users, op.outputs.front());
}

}  // namespace

void AddAll(const MemoryCost& part, MemoryCost& sum) {
  for (int64_t MemoryCost::*each :
       {&MemoryCost::load, &MemoryCost::store, &MemoryCost::read, &MemoryCost::written,
        &MemoryCost::load_bytes, &MemoryCost::store_bytes, &MemoryCost::other_bytes,
        &MemoryCost::bytes_read, &MemoryCost::bytes_written, &MemoryCost::unused_bytes})
    Add(sum.*each, part.*each);
}

TileCosting::TileCosting(const Plan& plan, const std::vector<Users>& users,
                         const Subgraph& subgraph)
    : plan_(plan), subgraph_(subgraph), k_slices_(FindKSlices(plan, subgraph)), grids_(plan) {
  for (const int tensor : TensorsOf(plan.network, subgraph.interval))
    held_.emplace(tensor, ResidencyOf(plan, users, subgraph, tensor));
  for (const auto& [tensor, held] : held_)
    late_[tensor] = IsLate(TouchedIn(users[static_cast<size_t>(tensor)], subgraph.interval).first);
  for (int i = subgraph.interval.first; i <= subgraph.interval.last; ++i) {
    const graph::Operator& op = plan.network.operators[static_cast<size_t>(i)];
    if (WritesBehindState(plan, users, op)) grows_along_.emplace(i, static_cast<size_t>(op.axis));
  }
}

TileCosting::Operand TileCosting::At(int tensor) const {
  const Held& held = held_.at(tensor);
  return {plan_.network.tensors[static_cast<size_t>(tensor)], held,
          hw_profiles::LayoutOf(plan_.profile, held.role)};
}

TileCost TileCosting::CostOf(const Tile& tile, std::optional<bool> late) {
  TileCost cost;
  cost.memories.resize(plan_.profile.memories.size());
  for (const auto& [tensor, need] : tile.needs) {
    if (!late || late_.at(tensor) == *late) AddCrossing(tensor, tile, cost);
  }
  for (int i = subgraph_.interval.first; i <= subgraph_.interval.last; ++i) {
    if (!late || IsLate(i) == *late) AddStep(i, tile, cost);
  }
  return cost;
}

void TileCosting::AddCrossing(int tensor, const Tile& tile, TileCost& cost) const {
  const auto [facts, held, layout] = At(tensor);
  MemoryCost& here = cost.memories[TileMemory()];
  MemoryCost& there = cost.memories[static_cast<size_t>(held.home)];
  const auto share = tile.shares.find(tensor);
  const Extents leaves = share == tile.shares.end() ? Extents{} : ExtentsOf(share->second);
  if (held.residency == Residency::kLoaded) {
    const Extents loaded = ExtentsOf(MadeOf(tile, tensor));
    const int64_t bytes = PayloadOf(facts, loaded, layout);
    Add(there.load, TransferCycles(plan_.profile, held.home, Direction::kFromHome,
                                   PiecesOf(facts, loaded, layout)));
    Add(there.load_bytes, bytes);
    Add(there.bytes_read, bytes);
    Add(here.bytes_written, bytes);
  } else if (held.residency == Residency::kStored) {
    const int64_t bytes = PayloadOf(facts, leaves, layout);
    Add(there.store, TransferCycles(plan_.profile, held.home, Direction::kToHome,
                                    PiecesOf(facts, leaves, layout)));
    Add(there.store_bytes, bytes);
    Add(there.bytes_written, bytes);
    Add(here.bytes_read, bytes);
  } else if (held.residency == Residency::kDirect) {
    if (held.read)
      Add(there.other_bytes, PayloadOf(facts, ExtentsOf(tile.needs.at(tensor)), layout));
    if (held.made) Add(there.other_bytes, PayloadOf(facts, leaves, layout));
  }
}

// Adds the access of an operator to one operand, at the operand's location.
void TileCosting::AddOperand(int tensor, const Extents& extents, Direction direction,
                             std::vector<MemoryCost>& step) const {
  const auto [facts, held, layout] = At(tensor);
  const bool direct = held.residency == Residency::kDirect;
  MemoryCost& memory = step[direct ? static_cast<size_t>(held.home) : TileMemory()];
  const bool reads = direction == Direction::kFromHome;
  const int64_t bytes = PayloadOf(facts, extents, layout);
  Add(reads ? memory.bytes_read : memory.bytes_written, bytes);
  if (reads) Add(memory.unused_bytes, UnusedBytes(tensor, bytes));
  if (!direct) return;
  Add(reads ? memory.read : memory.written,
      DirectCycles(plan_.profile, held.home, direction, PiecesOf(facts, extents, layout)));
}

// Adds the cycles of one slice, and the bytes of slices, which the link writes while the tile
// memory's port serves engines.
void TileCosting::AddSlice(int home, const Pieces& pieces, int64_t bytes, bool first,
                           TileCost& cost) const {
  SliceCycles& slices = cost.steps.back().slices[static_cast<size_t>(home)];
  if (first) Add(slices.first_bytes, bytes);
  const int64_t cycles = TransferCycles(plan_.profile, home, Direction::kFromHome, pieces);
  if (first) {
    Add(slices.first, cycles);
  } else if (cycles > 0) {
    Add(slices.later, cycles - HiddenLatency(plan_.profile, home));
  }
}

void TileCosting::AddSliced(int home, int64_t bytes, TileCost& cost) const {
  MemoryCost& there = cost.memories[static_cast<size_t>(home)];
  Add(there.other_bytes, bytes);
  Add(there.bytes_read, bytes);
  Add(cost.memories[TileMemory()].bytes_written, bytes);
}

// The bytes that an engine reads in vain with `bytes` of a tensor at home in the tile memory,
// because each request is a burst.
int64_t TileCosting::UnusedBytes(int tensor, int64_t bytes) const {
  const auto [facts, held, layout] = At(tensor);
  if (layout.request_bytes < 1 || held.residency != Residency::kWhole) return 0;
  const int64_t burst = plan_.profile.memories[TileMemory()].port.burst_bytes;
  const int64_t requests = base::CeilDiv(bytes, layout.request_bytes);
  return std::max<int64_t>(0, Times(requests, base::RoundUp(layout.request_bytes, burst)) - bytes);
}

// Adds what blocks fetch of an input beyond one read of it, where it lies.
void TileCosting::AddBlockInputs(const graph::Operator& op, const Extents& need,
                                 const BlockGrid& grid, std::vector<MemoryCost>& step) const {
  const Operand input = At(op.inputs.front());
  const bool direct = input.held.residency == Residency::kDirect;
  MemoryCost& memory = step[direct ? static_cast<size_t>(input.held.home) : TileMemory()];
  const int64_t window = PayloadOf(input.tensor, grid.input, input.layout);
  const int64_t once = PayloadOf(input.tensor, need, input.layout);
  const int64_t again = std::max<int64_t>(0, Times(grid.InputFetches(op), window) - once);
  Add(memory.bytes_read, again);
  const int tensor = op.inputs.front();
  Add(memory.unused_bytes,
      std::max<int64_t>(0, Times(grid.InputFetches(op), UnusedBytes(tensor, window)) -
                               UnusedBytes(tensor, once)));
  if (!direct) return;
  Add(memory.other_bytes, again);
  const int64_t latency =
      plan_.profile.memories[static_cast<size_t>(input.held.home)].port.read_latency_cycles;
  const auto stream = [&](const Extents& extents) {
    return DirectCycles(plan_.profile, input.held.home, Direction::kFromHome,
                        PiecesOf(input.tensor, extents, input.layout)) -
           latency;
  };
  Add(memory.read,
      std::max<int64_t>(0, Times(grid.InputFetches(op), stream(grid.input)) - stream(need)));
}

void TileCosting::AddConstants(const graph::Operator& op, bool idle, int64_t fetches,
                               std::vector<MemoryCost>& step, TileCost& cost) const {
  for (const int constant : std::set<int>(op.weights.begin(), op.weights.end())) {
    if (IsSplitK(constant)) continue;
    const Held& held = held_.at(constant);
    const int64_t bytes = ConstantBytes(plan_, op, constant);
    if (held.residency == Residency::kDirect) {
      MemoryCost& home = step[static_cast<size_t>(held.home)];
      const int64_t again = ContentBytes(plan_.network.tensors[static_cast<size_t>(constant)]);
      const int64_t fetched = Plus(bytes, Times(fetches - 1, again));
      Add(home.bytes_read, fetched);
      Add(home.other_bytes, fetched);
      const auto cycles_of = [&](int64_t part) {
        return DirectCycles(plan_.profile, held.home, Direction::kFromHome, {part, {}});
      };
      const int64_t latency =
          plan_.profile.memories[static_cast<size_t>(held.home)].port.read_latency_cycles;
      Add(home.read, cycles_of(bytes));
      if (fetches > 1 && again > 0) Add(home.read, Times(fetches - 1, cycles_of(again) - latency));
      continue;
    }
    if (!idle) Add(step[TileMemory()].bytes_read, bytes);
    if (held.residency != Residency::kStreamed) continue;
    AddSlices(op, constant, cost);
  }
}

// Slices that arrive ahead are no cost of the tile (CostCount::ConstantsOf). Those after them queue
// for the slots, of which as many receive at the same time as slices are ahead.
void TileCosting::AddSlices(const graph::Operator& op, int constant, TileCost& cost) const {
  const int home = held_.at(constant).home;
  const int64_t slices = SlicingOf(plan_, op, constant).slices;
  const int64_t ahead = SlicesAhead(subgraph_);
  const int64_t latency =
      plan_.profile.memories[static_cast<size_t>(home)].port.read_latency_cycles;
  const int64_t hidden = HiddenLatency(plan_.profile, home);
  std::vector<Waiting> waiting;
  for (int64_t slice = ahead; slice < slices; ++slice) {
    const int64_t part = BytesOfSlice(plan_, op, constant, slice);
    AddSliced(home, part, cost);
    if (ahead == 0) {
      AddSlice(home, {part, {}}, part, slice == 0, cost);
    } else if (part > 0) {
      const int64_t alone = TransferCycles(plan_.profile, home, Direction::kFromHome, {part, {}});
      waiting.push_back({waiting.empty() ? latency : latency - hidden, alone - latency});
    }
  }
  Add(cost.steps.back().slices[static_cast<size_t>(home)].later,
      CyclesInQueue(plan_.profile, home, waiting, ahead));
}

void TileCosting::AddSplitK(const Tile& tile, const Extents& result, std::vector<MemoryCost>& step,
                            TileCost& cost) const {
  MemoryCost& here = step[TileMemory()];
  const graph::Operator& op = plan_.network.operators[static_cast<size_t>(k_slices_->op)];
  for (const auto& [tensor, axis] : k_slices_->along) {
    const auto [facts, held, layout] = At(tensor);
    const bool moved = held.residency == Residency::kStreamed;
    if (tensor == k_slices_->constant) {
      const int64_t channels = result[k_slices_->result_channels];
      const int64_t table = Times(plan_.profile.table_bytes_per_channel, channels);
      int64_t bytes = table;
      for (int64_t slice = 0; slice < k_slices_->Count(); ++slice) {
        const int64_t k_extent = k_slices_->DepthOf(slice);
        const int64_t part = KSliceBytes(plan_, *k_slices_, k_extent, channels);
        Add(bytes, part);
        if (moved)
          AddSlice(held.home, PiecesOfK(plan_, *k_slices_, k_extent, channels), part, slice == 0,
                   cost);
      }
      Add(here.bytes_read, bytes);
      if (!moved) continue;
      AddSlice(held.home, {table, {}}, table, false, cost);
      AddSliced(held.home, bytes, cost);
    } else if (moved) {
      for (int64_t slice = 0; slice < k_slices_->Count(); ++slice) {
        Extents part = ExtentsOf(tile.needs.at(tensor));
        part[axis] = std::min(part[axis], k_slices_->DepthOf(slice));
        const int64_t bytes = PayloadOf(facts, part, layout);
        AddSlice(held.home, PiecesOf(facts, part, layout), bytes, slice == 0, cost);
        AddSliced(held.home, bytes, cost);
      }
    }
  }
  int64_t sums = 1;
  for (const int64_t extent : result) sums = Times(sums, extent);
  const base::DataType wide = base::AccumulatorOf(At(op.inputs.front()).tensor.type);
  const int64_t bytes = Times(base::BytesOf(wide, sums), k_slices_->Count() - 1);
  Add(here.bytes_read, bytes);
  Add(here.bytes_written, bytes);
}

// The operators before it that still run on its engine hide the start of the last operator; with
// two stages none does, because those of the other stage come between them.
int64_t TileCosting::StartBehindOthers(const TileCost& cost, int64_t start) const {
  if (subgraph_.second_stage > 0) return start;
  const hw_profiles::Engine* engine = cost.steps.back().engine;
  int64_t under_way = engine == nullptr ? 0 : engine->outstanding - 1;
  for (auto before = cost.steps.rbegin() + 1; before != cost.steps.rend() && under_way-- > 0;
       ++before) {
    if (before->engine != engine) break;
    start -= std::min(start, before->cycles);
  }
  return start;
}

// The memory in which an engine reads the table of an operator.
int TileCosting::TableMemory(const graph::Operator& op) const {
  if (op.weights.empty()) return plan_.profile.tile_memory;
  const Held& held = held_.at(op.weights.front());
  return held.residency == Residency::kDirect ? held.home : plan_.profile.tile_memory;
}

void TileCosting::AddStep(int index, const Tile& tile, TileCost& cost) {
  const graph::Operator& op = plan_.network.operators[static_cast<size_t>(index)];
  const size_t memories = plan_.profile.memories.size();
  StepCost& its = cost.steps.emplace_back();
  its.engine = EngineOf(plan_, op);
  its.slices.resize(memories);
  Extents made = ExtentsOf(MadeOf(tile, op.outputs.front()));
  const auto grows = grows_along_.find(index);
  const bool behind_state = grows != grows_along_.end();
  if (behind_state) {
    const int64_t there = ExtentsOf(tile.needs.at(op.inputs.front()))[grows->second];
    made[grows->second] = std::max<int64_t>(0, made[grows->second] - there);
  }
  const bool idle = std::find(made.begin(), made.end(), 0) != made.end();

  std::vector<MemoryCost> step(memories);
  for (size_t i = behind_state ? 1 : 0; i < op.inputs.size() && !idle; ++i)
    AddOperand(op.inputs[i], ExtentsOf(tile.needs.at(op.inputs[i])), Direction::kFromHome, step);
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const bool direct = held_.at(op.outputs[i]).residency == Residency::kDirect;
    const Box& box = direct ? tile.shares.at(op.outputs[i]) : MadeOf(tile, op.outputs[i]);
    AddOperand(op.outputs[i], i == 0 && !direct ? made : ExtentsOf(box), Direction::kToHome, step);
  }
  const std::optional<BlockGrid> grid =
      op.inputs.empty() ? std::nullopt
                        : grids_.Find(op, made, ExtentsOf(tile.needs.at(op.inputs.front())));
  if (grid) AddBlockInputs(op, ExtentsOf(tile.needs.at(op.inputs.front())), *grid, step);
  AddConstants(op, idle, grid ? grid->areas : 1, step, cost);
  if (k_slices_) AddSplitK(tile, made, step, cost);

  Arithmetic arithmetic = grid ? ArithmeticInBlocks(plan_, op, *grid, k_slices_, TableMemory(op))
                               : ArithmeticOf(plan_, op, made, k_slices_);
  const hw_profiles::Engine* engine = its.engine;
  const graph::MeasuredTile* measured =
      k_slices_ || engine == nullptr ? nullptr : graph::FindMeasured(op, made, engine->name);
  if (measured != nullptr) {
    const int64_t start = std::min(arithmetic.start, measured->cycles);
    arithmetic = {start, measured->cycles - start};
    its.measured_pj = measured->pj;
  }
  its.measured = measured != nullptr;
  its.arithmetic = Plus(arithmetic.start, arithmetic.body);
  its.macs = MacsFor(plan_.network, op, MadeOf(tile, op.outputs.front()));
  its.made = made;
  int64_t longest = Plus(arithmetic.body, StartBehindOthers(cost, arithmetic.start));
  for (size_t i = 0; i < memories; ++i) {
    const hw_profiles::Port& port = plan_.profile.memories[i].port;
    const int64_t busy = i == TileMemory()
                             ? PortCycles(port, Plus(step[i].bytes_read, step[i].unused_bytes),
                                          step[i].bytes_written)
                         : port.shared ? Plus(step[i].read, step[i].written)
                                       : std::max(step[i].read, step[i].written);
    longest = std::max(longest, busy);
    AddAll(step[i], cost.memories[i]);
  }
  its.cycles = longest;
}

}  // namespace tessera::plan::verify

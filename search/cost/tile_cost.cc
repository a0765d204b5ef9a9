// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/tile_cost.h"

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/state_aliasing.h"
#include "tessera/search/cost/cost_terms.h"

namespace tessera::search::cost {
namespace {

using graph::tiling::Extents;
using graph::tiling::ExtentsView;
using hw_profiles::HaloStorage;
using hw_profiles::Port;
using hw_profiles::Profile;
using hw_profiles::RoleLayout;

int64_t PortCyclesOf(const Port& port, int64_t read, int64_t written) {
  return port.shared ? base::SaturatingAdd(read, written) : std::max(read, written);
}

}  // namespace

int64_t TileCost::IdleCycles() const {
  int64_t idle = 0;
  for (const hw_profiles::Engine* engine : runs_on) {
    if (engine != nullptr) idle = std::max(idle, engine->idle_cycles_between_tiles);
  }
  return idle;
}

TileCosts::TileCosts(const graph::Graph& graph, const Profile& profile,
                     const std::vector<graph::Usage>& usages,
                     const graph::tiling::TiledSubgraph& tiling,
                     const encoder::program::Policy& policy)
    : graph_(&graph),
      profile_(&profile),
      interval_(tiling.interval),
      tiles_(tiling.tiles),
      second_stage_(policy.second_stage),
      constant_transfer_(TransferOfConstants(profile, policy.weights)),
      constant_homes_(HomesOfConstants(graph, profile, interval_)) {
  if (policy.weights == hw_profiles::WeightPolicy::kSplitK)
    cut_ = encoder::program::FindKCut(graph, profile, interval_, policy.k_extent);
  operands_.reserve(tiling.tensors.size());
  for (size_t i = 0; i < tiling.tensors.size(); ++i) {
    operands_.push_back(OperandOf(tiling.tensors[i], usages[static_cast<size_t>(tiling.tensors[i])],
                                  i, policy.kept));
  }
  for (const int home : constant_homes_) {
    for (int op = interval_.first; op <= interval_.last; ++op)
      constants_.push_back(CostOfConstants(op, home));
  }
  for (int op = interval_.first; op <= interval_.last; ++op) steps_.push_back(StepOf(op, usages));
  if (policy.halo == HaloStorage::kLineBuffer) KeepByCopying(tiling);
  if (policy.halo == HaloStorage::kAdjacent) FindCopied(tiling);
}

void TileCosts::KeepByCopying(const graph::tiling::TiledSubgraph& tiling) {
  restores_ = true;
  FindCopied(tiling);
}

void TileCosts::FindCopied(const graph::tiling::TiledSubgraph& tiling) {
  for (const Operand& operand : operands_) {
    const bool has_tiles = operand.route.transfer == TransferKind::kInside ||
                           operand.route.transfer == TransferKind::kMoved;
    if (!has_tiles || tiling.rows[operand.index].kept == 0) continue;
    const size_t rows = *graph::tiling::AxisOf(operand.tensor->shape, base::Axis::kRows);
    graph::tiling::Extents row = tiling.largest[operand.index];
    row[rows] = 1;
    copied_.push_back({operand.index, std::move(row), rows});
  }
}

TileCosts::Operand TileCosts::OperandOf(int tensor, const graph::Usage& usage, size_t index,
                                        const std::vector<int>& kept) const {
  const auto inside = [this](int op) { return interval_.first <= op && op <= interval_.last; };
  const auto reader = std::find_if(usage.consumers.begin(), usage.consumers.end(), inside);
  const int first = inside(usage.producer)            ? usage.producer
                    : reader != usage.consumers.end() ? *reader
                                                      : interval_.first;
  return {.index = index,
          .id = tensor,
          .tensor = &graph_->tensors[static_cast<size_t>(tensor)],
          .route = RouteOf(*graph_, *profile_, usage, tensor, interval_, kept),
          .made_inside = inside(usage.producer),
          .read_inside = reader != usage.consumers.end(),
          .late = IsLate(first - interval_.first)};
}

TileCost TileCosts::CostOf(const graph::tiling::TileClass& tile, BlockChoices& blocks,
                           std::optional<bool> late) const {
  TileCost cost;
  cost.flows.resize(profile_->memories.size());
  cost.touched.resize(profile_->memories.size());
  AddTransfers(tile, late, cost);
  if (cut_) AddSplitK(tile, cost);
  StepTraffic traffic;
  for (size_t step = 0; step < steps_.size(); ++step) {
    if (!late || IsLate(static_cast<int>(step)) == *late)
      AddStep(tile, step, blocks, traffic, cost);
  }
  AddCopies(tile, cost);
  return cost;
}

// The tile memory's port reads and writes each row once for each copy.
void TileCosts::AddCopies(const graph::tiling::TileClass& tile, TileCost& cost) const {
  const auto here = static_cast<size_t>(profile_->tile_memory);
  for (const Copied& copied : copied_) {
    const Operand& operand = operands_[copied.operand];
    const RoleLayout& layout = hw_profiles::LayoutOf(*profile_, operand.route.role);
    for (const int64_t rows :
         {restores_ ? tile.kept[copied.operand] : 0, tile.keeps[copied.operand]}) {
      Extents extents = copied.row;
      extents[copied.rows] = rows;
      const int64_t bytes = PayloadBytes(*operand.tensor, extents, layout);
      const int64_t cycles = PortCycles(profile_->memories[here].port, {bytes, bytes});
      base::Accumulate(cost.touched[here].read, bytes);
      base::Accumulate(cost.touched[here].written, bytes);
      base::Accumulate(cost.at_engines.read, bytes);
      base::Accumulate(cost.at_engines.written, bytes);
      base::Accumulate(cost.copies, cycles);
      base::Accumulate(cost.tile_memory, cycles);
    }
  }
}

TileCosts::Step TileCosts::StepOf(int index, const std::vector<graph::Usage>& usages) const {
  const graph::Operator& op = graph_->operators[static_cast<size_t>(index)];
  Step step{.op = &op, .worker = WorkerOf(*graph_, *profile_, op), .inputs = {}, .outputs = {}};
  const auto operand_of = [this](int tensor) {
    const auto found =
        std::lower_bound(operands_.begin(), operands_.end(), tensor,
                         [](const Operand& operand, int wanted) { return operand.id < wanted; });
    return static_cast<size_t>(found - operands_.begin());
  };
  for (const int tensor : op.inputs) step.inputs.push_back(operand_of(tensor));
  for (const int tensor : op.outputs) step.outputs.push_back(operand_of(tensor));
  step.growth = encoder::program::AxisOfGrowth(*graph_, usages, *profile_, op);
  return step;
}

// A tensor that is read crosses as far as the tile needs it; if it is loaded, without the rows kept
// from earlier tiles. A tensor that is made crosses as far as the tile's share extends. A state can
// do both, as can a result that engines write and read in its home.
void TileCosts::AddTransfers(const graph::tiling::TileClass& tile, std::optional<bool> late,
                             TileCost& cost) const {
  for (const Operand& operand : operands_) {
    if (late && operand.late != *late) continue;
    if (operand.route.transfer != TransferKind::kMoved &&
        operand.route.transfer != TransferKind::kDirect)
      continue;
    if (IsSliced(operand)) continue;
    const bool direct = operand.route.transfer == TransferKind::kDirect;
    if (!operand.made_inside || (direct && operand.read_inside)) {
      const ExtentsView read =
          direct ? tile.needed[operand.index] : graph::tiling::MadeOf(tile, operand.index);
      AddCrossing(operand, read, Direction::kRead, cost);
    }
    if (operand.made_inside)
      AddCrossing(operand, tile.share[operand.index], Direction::kWrite, cost);
  }
}

bool TileCosts::IsSliced(const Operand& operand) const {
  return operand.route.transfer == TransferKind::kMoved && !operand.made_inside &&
         TakesSplitK(operand.id);
}

// Adds slices as other transfers.
void TileCosts::AddSplitK(const graph::tiling::TileClass& tile, TileCost& cost) const {
  std::vector<SlicedFeature> features;
  for (const encoder::program::KOperand& along : cut_->features) {
    const auto operand =
        std::find_if(operands_.begin(), operands_.end(),
                     [&along](const Operand& each) { return each.id == along.tensor; });
    if (IsSliced(*operand))
      features.push_back({operand->tensor, along, operand->route, tile.needed[operand->index]});
  }
  const graph::tiling::ExtentsView result = tile.needed[steps_.front().outputs.front()];
  cost.split_k = SplitKCostOf(*graph_, *profile_, *cut_, constant_transfer_, features, result);
  Touched& here = cost.touched[static_cast<size_t>(profile_->tile_memory)];
  for (size_t memory = 0; memory < cost.split_k.memories.size(); ++memory) {
    const SliceFlow& flow = cost.split_k.memories[memory];
    base::Accumulate(cost.touched[memory].read, flow.Bytes());
    base::Accumulate(here.written, flow.Bytes());
  }
}

void TileCosts::AddCrossing(const Operand& operand, ExtentsView extents, Direction direction,
                            TileCost& cost) const {
  const int home = operand.route.home;
  const RoleLayout& layout = hw_profiles::LayoutOf(*profile_, operand.route.role);
  const int64_t bytes = PayloadBytes(*operand.tensor, extents, layout);
  const bool in = direction == Direction::kRead;
  Flow& flow = cost.flows[static_cast<size_t>(home)];
  if (operand.route.transfer == TransferKind::kDirect) {
    base::Accumulate(in ? flow.direct_read_bytes : flow.direct_write_bytes, bytes);
    return;
  }
  const int64_t cycles =
      TransferCycles(*profile_, home, direction, RunsOf(*operand.tensor, extents, layout));
  base::Accumulate(in ? flow.load_bytes : flow.store_bytes, bytes);
  base::Accumulate(in ? flow.load_cycles : flow.store_cycles, cycles);
  Touched& there = cost.touched[static_cast<size_t>(home)];
  Touched& here = cost.touched[static_cast<size_t>(profile_->tile_memory)];
  base::Accumulate(in ? there.read : there.written, bytes);
  base::Accumulate(in ? here.written : here.read, bytes);
}

// Returns the part of the start that nothing hides. An engine that processes several operators
// concurrently starts one while it still works on earlier ones; with two stages it does not,
// because operators of the other stage come between them.
int64_t TileCosts::ExposedStart(const Compute& compute, const TileCost& cost) const {
  if (HasTwoStages()) return compute.start;
  int64_t hidden = 0;
  const size_t steps = cost.engine.size();
  for (size_t back = 1; back <= steps && compute.engine != nullptr; ++back) {
    const bool under_way = static_cast<int64_t>(back) < compute.engine->outstanding;
    if (!under_way || cost.runs_on[steps - back] != compute.engine) break;
    base::Accumulate(hidden, cost.engine[steps - back]);
  }
  return std::max<int64_t>(0, compute.start - hidden);
}

void TileCosts::Touch(const Operand& operand, ExtentsView extents, Direction direction,
                      StepTraffic& traffic) const {
  const RoleLayout& layout = hw_profiles::LayoutOf(*profile_, operand.route.role);
  const bool direct = operand.route.transfer == TransferKind::kDirect;
  const auto memory = static_cast<size_t>(direct ? operand.route.home : profile_->tile_memory);
  const bool in = direction == Direction::kRead;
  Touched& bytes = traffic.bytes[memory];
  const int64_t payload = PayloadBytes(*operand.tensor, extents, layout);
  base::Accumulate(in ? bytes.read : bytes.written, payload);
  if (in) base::Accumulate(traffic.unused_bytes, UnusedBytes(operand, payload));
  if (!direct) return;
  Touched& cycles = traffic.direct_cycles[memory];
  const Runs runs = RunsOf(*operand.tensor, extents, layout);
  base::Accumulate(in ? cycles.read : cycles.written,
                   DirectCycles(*profile_, operand.route.home, direction, runs));
}

// Returns the extents of the first output that the operator makes, without data already in place.
// `part` stores them if there is such data.
ExtentsView TileCosts::MovedOf(const graph::tiling::TileClass& tile, size_t index,
                               Extents& part) const {
  const Step& step = steps_[index];
  const ExtentsView made = graph::tiling::MadeOf(tile, step.outputs.front());
  if (!step.growth) return made;
  const int64_t staying = tile.needed[step.inputs.front()][*step.growth];
  part = WithoutStaying({made.begin(), made.end()}, *step.growth, staying);
  return part;
}

// Every operand byte is read once, and every result byte written once, in its memory. Output blocks
// fetch parts of the input again, and constants that they read in place.
void TileCosts::FindTraffic(const graph::tiling::TileClass& tile, size_t step, ExtentsView moved,
                            const SplitKCost& split_k, const std::optional<Blocking>& blocking,
                            StepTraffic& traffic) const {
  traffic.bytes.assign(profile_->memories.size(), {});
  traffic.direct_cycles.assign(profile_->memories.size(), {});
  traffic.refetched_bytes.assign(profile_->memories.size(), 0);
  traffic.unused_bytes = 0;
  const bool idle = graph::tiling::ElementsOf(moved) == 0;
  for (size_t i = steps_[step].growth ? 1 : 0; i < steps_[step].inputs.size() && !idle; ++i) {
    const size_t input = steps_[step].inputs[i];
    Touch(operands_[input], tile.needed[input], Direction::kRead, traffic);
    if (blocking && i == 0) TouchBlocks(operands_[input], tile.needed[input], *blocking, traffic);
  }
  const int64_t fetches = blocking ? blocking->areas : 1;
  for (size_t i = 0; i < steps_[step].outputs.size(); ++i) {
    const size_t output = steps_[step].outputs[i];
    const Operand& operand = operands_[output];
    const bool direct = operand.route.transfer == TransferKind::kDirect;
    const ExtentsView made = i == 0 ? moved : graph::tiling::MadeOf(tile, output);
    Touch(operand, direct ? tile.share[output] : made, Direction::kWrite, traffic);
  }
  for (size_t i = 0; i < constant_homes_.size(); ++i) {
    const ConstantCost& constants = ConstantsIn(i)[step];
    const auto home = static_cast<size_t>(constant_homes_[i]);
    if (constant_transfer_ == TransferKind::kDirect) {
      base::Accumulate(traffic.bytes[home].read, constants.DirectBytes(fetches));
      base::Accumulate(
          traffic.direct_cycles[home].read,
          base::SaturatingAdd(constants.direct_cycles,
                              base::SaturatingMul(constants.refetch_cycles, fetches - 1)));
    } else if (!idle) {
      base::Accumulate(traffic.bytes[static_cast<size_t>(profile_->tile_memory)].read,
                       constants.bytes);
    }
  }
  Touched& here = traffic.bytes[static_cast<size_t>(profile_->tile_memory)];
  base::Accumulate(here.read, base::SaturatingAdd(split_k.constant_bytes, split_k.sums_bytes));
  base::Accumulate(here.written, split_k.sums_bytes);
}

void TileCosts::AddStep(const graph::tiling::TileClass& tile, size_t step, BlockChoices& blocks,
                        StepTraffic& traffic, TileCost& cost) const {
  Extents part;
  const ExtentsView result = MovedOf(tile, step, part);
  const std::optional<Blocking> blocking = BlockingOf(tile, step, result, blocks);
  FindTraffic(tile, step, result, cost.split_k, blocking, traffic);
  for (size_t i = 0; i < constant_homes_.size() && constant_transfer_ == TransferKind::kDirect;
       ++i) {
    base::Accumulate(cost.flows[static_cast<size_t>(constant_homes_[i])].direct_constant_bytes,
                     ConstantsIn(i)[step].DirectBytes(blocking ? blocking->areas : 1));
  }
  const size_t here = static_cast<size_t>(profile_->tile_memory);
  const std::optional<int64_t> k_slice = cut_ ? std::optional(cut_->granularity) : std::nullopt;
  const Compute compute =
      ComputeOf(*graph_, steps_[step].worker, *steps_[step].op, result, k_slice, blocking);
  if (const graph::MeasuredTile* measured =
          k_slice ? nullptr : MeasuredBy(steps_[step].worker, *steps_[step].op, result);
      measured != nullptr && measured->pj)
    cost.measured_pj.emplace_back(step, *measured->pj);
  const int64_t arithmetic = base::SaturatingAdd(compute.body, ExposedStart(compute, cost));
  Touched at_port = traffic.bytes[here];
  base::Accumulate(at_port.read, traffic.unused_bytes);
  base::Accumulate(cost.at_engines.read, at_port.read);
  base::Accumulate(cost.at_engines.written, at_port.written);
  const int64_t port = PortCycles(profile_->memories[here].port, at_port);
  int64_t longest = std::max(arithmetic, port);
  for (size_t memory = 0; memory < traffic.bytes.size(); ++memory) {
    const Touched& bytes = traffic.bytes[memory];
    const Touched& cycles = traffic.direct_cycles[memory];
    longest = std::max(longest,
                       PortCyclesOf(profile_->memories[memory].port, cycles.read, cycles.written));
    base::Accumulate(cost.flows[memory].direct_read_cycles, cycles.read);
    base::Accumulate(cost.flows[memory].direct_write_cycles, cycles.written);
    base::Accumulate(cost.flows[memory].direct_read_bytes, traffic.refetched_bytes[memory]);
    base::Accumulate(cost.touched[memory].read, bytes.read);
    base::Accumulate(cost.touched[memory].written, bytes.written);
  }
  cost.engine.push_back(longest);
  cost.runs_on.push_back(compute.engine);
  base::Accumulate(cost.compute, arithmetic);
  base::Accumulate(cost.tile_memory, port);
}

}  // namespace tessera::search::cost

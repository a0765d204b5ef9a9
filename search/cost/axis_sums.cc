// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/axis_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/operator_kind.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/output_blocks.h"

// This file sums over all tiles of a shape, axis by axis.
//
// If the rows of a tensor follow from the rows of the output and its columns from the columns, the
// elements that all tiles make of it are a product of sums, one for each axis:
//
//     columns     a    b    c         tiles make (4 + 5 + 3) * (6 + 8 + 6) elements, halos included
//     rows   4   ---  ---  ---
//            5   ---  ---  ---        sums along the rows serve every shape with these rows
//            3   ---  ---  ---
//
// Tiles that keep rows make each row once. Their lengths result from a walk down the rows with the
// made rows instead of the needed ones. As in cached_halo.cc, a tensor's tile begins where the
// previous tiles ended. Later tiles must not need earlier rows, so needs must begin in ascending
// order; otherwise nothing is certain, nor if some rows need nothing of a tensor. A tensor that the
// encoder does not keep is made more often than these sums state.
//
// If one user of a tensor needs nothing of it, the region follows from the other users alone, along
// every axis. Sums do not multiply there, so these positions are left out of the sums of the tensor
// and of all tensors from which it is made.
//
// If a tensor has one user, the positions along one axis tell which tiles need nothing of it. Sums
// then multiply, even if its other axes follow from other axes of the output:
//
//     channels       a    b    c      first operand of a concatenation: tiles at c need nothing,
//     operands   |----------|-----|   those at a and b need (5 + 4) channels times the sums along
//                                     the rows and columns
//
// Cost: a propagation for each position along an axis, once for every extent. Tests compare bounds
// that use these sums with the simulator.
namespace tessera::search::cost {
namespace {

using graph::ops::Extent;
using graph::tiling::Propagation;
using graph::tiling::TileShape;

bool AsksForNothing(std::span<const Extent> region) {
  return std::any_of(region.begin(), region.end(),
                     [](const Extent& extent) { return extent.Length() == 0; });
}

// Whether the operator is idle, or needs nothing of this operand for this part of its result.
bool AsksForNothing(const Propagation::Ask& ask, std::span<const Extent> output) {
  return AsksForNothing(output) ||
         (ask.may_be_empty &&
          std::any_of(ask.maps.begin(), ask.maps.end(), [output](const graph::ops::AxisMap& map) {
            return map.Apply(output).Length() == 0;
          }));
}

// A convolution with a kernel of one pixel distributes the pixels of all rows over its lanes.
// Output blocks contain separate pixels, and more than one row if the tile has more than one.
bool IsOnePixel(const graph::Operator& op) {
  using Pair = std::array<int64_t, 2>;
  return op.kind == base::OperatorKind::kConv && op.window.kernel == Pair{1, 1} &&
         op.window.stride == Pair{1, 1};
}

// Returns the extent that an operator makes along each axis of its result in one step, if its loops
// are rounded up one by one; otherwise 1.
std::array<int64_t, 4> LanesOf(const graph::Operator& op, const Worker& worker) {
  std::array<int64_t, 4> lanes = {1, 1, 1, 1};
  const hw_profiles::Throughput& does = *worker.throughput;
  const hw_profiles::Unroll& unroll = does.unroll;
  const bool is_conv = op.kind == base::OperatorKind::kConv;
  const bool is_depthwise = op.kind == base::OperatorKind::kDepthwise && !does.fold_channels;
  if (!is_conv && !is_depthwise) return lanes;
  if (is_depthwise || op.groups <= 1) lanes[1] = std::max<int64_t>(1, unroll.out_channels);
  const bool in_blocks = WorksInBlocks(op, worker.engine);
  if (IsOnePixel(op) && !in_blocks) return lanes;
  if (!in_blocks) lanes[0] = std::max<int64_t>(1, unroll.batch);
  lanes[2] = std::max<int64_t>(1, unroll.out_rows);
  lanes[3] = std::max<int64_t>(1, unroll.out_columns);
  return lanes;
}

}  // namespace

AxisSums::AxisSums(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   graph::Interval interval, const base::Stop* stop)
    : propagation_(graph, interval), work_(stop), whole_(propagation_.Size()) {
  propagation_.Run(graph::ops::WholeBox(Output()), whole_);
  for (int i = interval.first; i <= interval.last; ++i)
    has_barrier_ = has_barrier_ || graph.operators[static_cast<size_t>(i)].outputs.size() > 1;
  FindDeciders();
  std::vector<int> users(propagation_.Tensors().size());
  for (size_t slot = 0; slot < users.size(); ++slot)
    users[slot] = propagation_.Leaves(slot) ? 1 : 0;
  for (const Propagation::Ask& ask : propagation_.Asks()) ++users[ask.input];
  for (const int count : users) is_shared_.push_back(static_cast<char>(count > 1));
  FindLanes(graph, profile, interval);
}

void AxisSums::FindDeciders() {
  const AxisSet every = SetOf(Output().size()) - 1;
  const std::vector<Propagation::Dependence> found =
      propagation_.Dependences(every, Propagation::Emptiness::kApart);
  slot_deciders_.assign(propagation_.Tensors().size(), 0);
  for (size_t slot = 0; slot < slot_deciders_.size(); ++slot) {
    for (size_t i = propagation_.Begin(slot); i < propagation_.Begin(slot + 1); ++i) {
      deciders_.push_back(found[i].axes);
      slot_deciders_[slot] |= found[i].axes;
    }
  }
  for (const Propagation::Ask& ask : propagation_.Asks()) {
    for (const graph::ops::AxisMap& map : ask.maps) {
      const AxisSet axes = map.MayBeEmpty() ? propagation_.AxesBehind(ask, map, found) : 0;
      emptying_ |= axes;
      if (std::popcount(axes) > 1) joint_.push_back(axes);
    }
  }
}

bool AxisSums::IsSeparable(AxisSet cut) const {
  for (size_t slot = 0; slot < slot_deciders_.size(); ++slot) {
    AxisSet used = 0;
    for (size_t i = propagation_.Begin(slot); i < propagation_.Begin(slot + 1); ++i) {
      const AxisSet axes = deciders_[i] & cut;
      if (std::popcount(axes) > 1 || (axes & used) != 0) return false;
      used |= axes;
    }
  }
  return std::all_of(joint_.begin(), joint_.end(),
                     [cut](AxisSet axes) { return std::popcount(axes & cut) <= 1; });
}

std::optional<size_t> AxisSums::DeciderOf(size_t region, AxisSet cut) const {
  const AxisSet axes = deciders_[region] & cut;
  return axes == 0 ? std::nullopt : std::optional(static_cast<size_t>(std::countr_zero(axes)));
}

void AxisSums::FindLanes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         graph::Interval interval) {
  constexpr size_t kRows = 2;
  lanes_.assign(propagation_.Size(), {});
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(i)];
    const Worker worker = WorkerOf(graph, profile, op);
    const size_t slot = propagation_.SlotOf(op.outputs.front());
    if (worker.throughput == nullptr || propagation_.ShapeOf(slot).size() != 4) continue;
    const std::array<int64_t, 4> lanes = LanesOf(op, worker);
    for (size_t axis = 0; axis < lanes.size(); ++axis)
      lanes_[propagation_.Begin(slot) + axis] = {lanes[axis], axis == kRows && IsOnePixel(op)};
  }
}

bool AxisSums::IsNeeded(size_t slot) const {
  const size_t begin = propagation_.Begin(slot);
  return !AsksForNothing(std::span(whole_).subspan(begin, propagation_.Begin(slot + 1) - begin));
}

int64_t AxisSums::WholeSteps(size_t region) const {
  return lanes_[region].Fill(WholeLength(region));
}

int64_t AxisSums::Lanes::Fill(int64_t length) const {
  return length == 1 && one_is_less ? 1 : base::RoundUp(length, count);
}

const AxisSums::Sums* AxisSums::Of(size_t axis, int64_t extent, bool keeps_rows) {
  const Entry& entry = EntryOf(axis, extent);
  const std::optional<Sums>& sums = keeps_rows ? entry.kept : entry.recomputed;
  return sums ? &*sums : nullptr;
}

// Returns the shared slots of which nothing leaves with the box.
std::vector<char> AxisSums::FindUnshared(const graph::ops::Box& box) const {
  std::vector<char> found(is_shared_.size());
  for (size_t slot = 0; slot < found.size(); ++slot) {
    if (is_shared_[slot] == 0 || !propagation_.Leaves(slot)) continue;
    for (size_t k = 0; k < propagation_.Begin(slot + 1) - propagation_.Begin(slot); ++k) {
      if (propagation_.ShareAlong(slot, k, box).Length() <= 0) found[slot] = 1;
    }
  }
  return found;
}

// Returns the slots whose regions follow from some of their users alone, because another user is
// idle or needs nothing of them, or because nothing leaves (`found`), and all slots from which
// these are made.
std::vector<char> AxisSums::FindPartlyAsked(std::span<const Extent> made,
                                            std::vector<char> found) const {
  for (const Propagation::Ask& ask : propagation_.Asks()) {
    const size_t begin = propagation_.Begin(ask.output);
    const auto output = made.subspan(begin, propagation_.Begin(ask.output + 1) - begin);
    if (found[ask.output] != 0 || (is_shared_[ask.input] != 0 && AsksForNothing(ask, output)))
      found[ask.input] = 1;
  }
  return found;
}

const AxisSums::Entry& AxisSums::EntryOf(size_t axis, int64_t extent) {
  const auto found = entries_.find({axis, extent});
  if (found != entries_.end()) return found->second;
  Entry entry{Recompute(axis, extent), std::nullopt};
  const bool may_idle = (emptying_ & SetOf(axis)) != 0;
  if (graph::tiling::AxisOf(Output(), base::Axis::kRows) == axis && !has_barrier_ && !may_idle)
    entry.kept = KeepRows(axis, extent);
  return entries_.emplace(std::pair(axis, extent), std::move(entry)).first->second;
}

// Computes the elements that leave with a tile and not with an earlier one. Returns whether there
// are any.
bool AxisSums::TakeNewShare(size_t slot, const graph::ops::Box& box, size_t axis,
                            std::span<const int64_t> ends, std::span<Extent> share) const {
  for (size_t k = 0; k < share.size(); ++k) {
    share[k] = propagation_.ShareAlong(slot, k, box);
    if (propagation_.ShareSource(slot, k) != axis) continue;
    share[k].begin = std::max(share[k].begin, ends[propagation_.Begin(slot) + k]);
    if (share[k].begin >= share[k].end) {
      std::fill(share.begin(), share.end(), Extent{});
      return false;
    }
  }
  return true;
}

AxisSums::Sums AxisSums::NoSums() const {
  const size_t regions = propagation_.Size();
  return {.positions = 0,
          .lengths = std::vector<int64_t>(regions),
          .made = std::vector<int64_t>(regions),
          .steps = std::vector<int64_t>(regions),
          .shares = std::vector<int64_t>(regions),
          .asking = std::vector<int64_t>(propagation_.Tensors().size())};
}

// Adds the needs and results of tiles at one position, except those of slots that are partly
// needed.
void AxisSums::AddMade(std::span<const Extent> needed, std::span<const Extent> made,
                       std::span<const char> partly_asked, size_t axis, Sums& sums) const {
  for (size_t slot = 0; slot < sums.asking.size(); ++slot) {
    const size_t begin = propagation_.Begin(slot);
    const size_t end = propagation_.Begin(slot + 1);
    if (partly_asked[slot] != 0 || AsksForNothing(needed.subspan(begin, end - begin))) continue;
    const bool makes = !AsksForNothing(made.subspan(begin, end - begin));
    sums.asking[slot] += makes ? 1 : 0;
    for (size_t i = begin; i < end; ++i) {
      if (!IsDecidedAlong(i, axis)) continue;
      sums.lengths[i] += needed[i].Length();
      if (!makes) continue;
      sums.made[i] += made[i].Length();
      sums.steps[i] += lanes_[i].Fill(made[i].Length());
    }
  }
}

void AxisSums::AddShares(const graph::ops::Box& box, size_t axis, std::vector<int64_t>& ends,
                         Sums& sums) const {
  for (size_t slot = 0; slot < sums.asking.size(); ++slot) {
    if (!propagation_.Leaves(slot)) continue;
    const size_t begin = propagation_.Begin(slot);
    for (size_t i = begin; i < propagation_.Begin(slot + 1); ++i) {
      if (propagation_.ShareSource(slot, i - begin) != axis) continue;
      const Extent share = propagation_.ShareAlong(slot, i - begin, box);
      sums.shares[i] += std::max<int64_t>(0, share.end - std::max(share.begin, ends[i]));
      ends[i] = std::max(ends[i], share.end);
    }
  }
}

std::optional<AxisSums::Sums> AxisSums::Recompute(size_t axis, int64_t extent) {
  Sums sums = NoSums();
  graph::ops::Box box = graph::ops::WholeBox(Output());
  std::vector<Extent> regions(propagation_.Size());
  std::vector<int64_t> ends(propagation_.Size());
  for (int64_t begin = 0; begin < Output()[axis]; begin += extent) {
    box[axis] = {begin, std::min(begin + extent, Output()[axis])};
    propagation_.Run(box, regions);
    ++sums.positions;
    AddMade(regions, regions, FindPartlyAsked(regions, FindUnshared(box)), axis, sums);
    AddShares(box, axis, ends, sums);
    if (!Continues()) return std::nullopt;
  }
  return sums;
}

// Readers come before the operators that make what they read, so a tensor is settled when the
// first ask of its operator is reached, or at the end.
std::optional<AxisSums::Sums> AxisSums::KeepRows(size_t axis, int64_t extent) {
  Sums sums = NoSums();
  const size_t slots = propagation_.Tensors().size();
  graph::ops::Box box = graph::ops::WholeBox(Output());
  std::vector<Extent> needed(propagation_.Size());
  std::vector<Extent> made(propagation_.Size());
  std::vector<int64_t> ends(propagation_.Size());
  std::vector<int64_t> share_ends(propagation_.Size());
  std::vector<int64_t> begins(propagation_.Size());
  std::vector<char> settled(slots);
  std::vector<char> was_made(slots);
  const auto part = [&](std::vector<Extent>& regions, size_t slot) {
    const size_t begin = propagation_.Begin(slot);
    return std::span(regions).subspan(begin, propagation_.Begin(slot + 1) - begin);
  };
  bool in_order = true;
  const auto settle = [&](size_t slot) {
    settled[slot] = 1;
    const std::span<const Extent> need = part(needed, slot);
    const std::span<Extent> makes = part(made, slot);
    std::fill(makes.begin(), makes.end(), Extent{});
    if (AsksForNothing(need)) return;
    bool is_new = IsDecidedBy(slot, axis) || was_made[slot] == 0;
    std::copy(need.begin(), need.end(), makes.begin());
    for (size_t k = 0; k < need.size(); ++k) {
      const size_t i = propagation_.Begin(slot) + k;
      if (!IsDecidedAlong(i, axis)) continue;
      in_order = in_order && need[k].begin >= begins[i];
      begins[i] = need[k].begin;
      makes[k].begin = std::max(need[k].begin, ends[i]);
      ends[i] = std::max(ends[i], need[k].end);
      is_new = is_new && makes[k].Length() > 0;
    }
    was_made[slot] = 1;
    if (!is_new) std::fill(makes.begin(), makes.end(), Extent{});
  };
  for (int64_t begin = 0; begin < Output()[axis] && in_order; begin += extent) {
    box[axis] = {begin, std::min(begin + extent, Output()[axis])};
    std::fill(needed.begin(), needed.end(), Extent{});
    std::fill(settled.begin(), settled.end(), 0);
    std::vector<char> unshared = FindUnshared(box);
    for (size_t slot = 0; slot < slots; ++slot) {
      if (propagation_.Leaves(slot) &&
          !TakeNewShare(slot, box, axis, share_ends, part(needed, slot)) && is_shared_[slot] != 0)
        unshared[slot] = 1;
    }
    for (const Propagation::Ask& ask : propagation_.Asks()) {
      if (settled[ask.output] == 0) settle(ask.output);
      Propagation::Apply(ask, part(made, ask.output), part(needed, ask.input));
    }
    for (size_t slot = 0; slot < slots; ++slot) {
      if (settled[slot] == 0) settle(slot);
    }
    ++sums.positions;
    AddMade(needed, made, FindPartlyAsked(made, std::move(unshared)), axis, sums);
    AddShares(box, axis, share_ends, sums);
    if (!Continues()) return std::nullopt;
  }
  if (!in_order) return std::nullopt;
  return sums;
}

std::vector<Extent> AxisSums::FirstTile(const TileShape& tile) const {
  graph::ops::Box box = graph::ops::WholeBox(Output());
  for (size_t axis = 0; axis < box.size(); ++axis) box[axis].end = tile[axis];
  std::vector<Extent> regions(propagation_.Size());
  propagation_.Run(box, regions);
  return regions;
}

graph::ops::Box AxisSums::LastBox(const TileShape& tile) const {
  graph::ops::Box box = graph::ops::WholeBox(Output());
  for (size_t axis = 0; axis < box.size(); ++axis)
    box[axis].begin = (box[axis].end - 1) / tile[axis] * tile[axis];
  return box;
}

}  // namespace tessera::search::cost

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/split_k_cost.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/cost_terms.h"

// In a tile of D slices, the first slice of each factor arrives before the operator's step, and D -
// 1 more arrive during it. The last slice is shorter; that of the constant includes its table.
// Between slices the partial sums are written to the tile memory and read again:
//
//     slice      0      1      2    ..    D-1
//     sums       write  r w    r w        read, then the result is written        D - 1 times each
namespace tessera::search::cost {
namespace {

using encoder::program::KCut;
using hw_profiles::Profile;

// The transfer of one slice.
struct Piece {
  int64_t cycles = 0;
  int64_t following = 0;  // if it follows another slice
  int64_t bytes = 0;
};

Piece PieceOf(const Profile& profile, int home, const Runs& runs, int64_t bytes) {
  return {TransferCycles(profile, home, Direction::kRead, runs),
          FollowingTransferCycles(profile, home, runs), bytes};
}

void AddFlow(const SliceFlow& flow, SliceFlow& sum) {
  base::Accumulate(sum.first_cycles, flow.first_cycles);
  base::Accumulate(sum.first_bytes, flow.first_bytes);
  base::Accumulate(sum.later_cycles, flow.later_cycles);
  base::Accumulate(sum.later_bytes, flow.later_bytes);
}

SliceFlow FlowOf(const KCut& cut, const std::function<Piece(int64_t)>& piece_of) {
  SliceFlow flow;
  const Piece full = piece_of(cut.granularity);
  const Piece last = piece_of(cut.Length(cut.Slices() - 1));
  const int64_t between = cut.Slices() - 2;
  flow.first_cycles = full.cycles;
  flow.first_bytes = full.bytes;
  flow.later_cycles =
      base::SaturatingAdd(base::SaturatingMul(full.following, between), last.following);
  flow.later_bytes = base::SaturatingAdd(base::SaturatingMul(full.bytes, between), last.bytes);
  return flow;
}

// Returns the runs of some channels of a part of the K extent. The constant lies in row-major
// order.
Runs RunsOfConstant(const graph::Graph& graph, const KCut& cut, graph::tiling::ExtentsView result,
                    int64_t k_extent) {
  const graph::Tensor& constant = graph.tensors[static_cast<size_t>(cut.constant->tensor)];
  const int64_t bytes = encoder::program::ConstantSliceBytes(graph, cut, result, k_extent);
  const int64_t channels = result[cut.result_channels];
  const bool channels_inside = cut.constant_channels > cut.constant->axis;
  const int64_t runs = channels_inside ? k_extent : channels;
  const bool joins = channels_inside && channels == constant.shape[cut.constant_channels];
  if (joins || runs == 1) return OneRun(bytes);
  const int64_t elements = graph::ElementsOf(constant.shape) /
                           constant.shape[cut.constant_channels] / cut.k_extent * k_extent *
                           channels / runs;
  return {.bytes = base::BytesOf(constant.type, elements), .count = runs, .loops = {runs}};
}

}  // namespace

SplitKCost SplitKCostOf(const graph::Graph& graph, const Profile& profile, const KCut& cut,
                        TransferKind constants, const std::vector<SlicedFeature>& features,
                        graph::tiling::ExtentsView result) {
  SplitKCost cost;
  cost.memories.resize(profile.memories.size());
  for (const SlicedFeature& feature : features) {
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, feature.route.role);
    const SliceFlow flow = FlowOf(cut, [&](int64_t k_extent) {
      const graph::tiling::Extents slice =
          encoder::program::SliceOf(feature.along, feature.needed, k_extent);
      return PieceOf(profile, feature.route.home, RunsOf(*feature.tensor, slice, layout),
                     PayloadBytes(*feature.tensor, slice, layout));
    });
    AddFlow(flow, cost.memories[static_cast<size_t>(feature.route.home)]);
    base::Accumulate(cost.input_bytes, flow.Bytes());
  }
  if (cut.constant) {
    const int home =
        encoder::program::HomeOf(graph, profile, cut.constant->tensor, base::TensorRole::kConstant);
    SliceFlow flow = FlowOf(cut, [&](int64_t k_extent) {
      return PieceOf(profile, home, RunsOfConstant(graph, cut, result, k_extent),
                     encoder::program::ConstantSliceBytes(graph, cut, result, k_extent));
    });
    const int64_t table = encoder::program::ConstantTableBytes(profile, cut, result);
    base::Accumulate(flow.later_bytes, table);
    base::Accumulate(flow.later_cycles, FollowingTransferCycles(profile, home, OneRun(table)));
    cost.constant_bytes = flow.Bytes();
    if (constants == TransferKind::kMoved) {
      AddFlow(flow, cost.memories[static_cast<size_t>(home)]);
      cost.weight_bytes = cost.constant_bytes;
    }
  }
  const graph::Operator& op = graph.operators[static_cast<size_t>(cut.op)];
  cost.sums_bytes =
      base::SaturatingMul(encoder::program::AccumulatorBytes(graph, op, result), cut.Slices() - 1);
  return cost;
}

using encoder::program::KCut;
using hw_profiles::WeightPolicy;

SplitKBounds::SplitKBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           graph::Interval interval,
                           std::span<const encoder::program::Policy> policies)
    : graph_(graph), profile_(profile) {
  for (const encoder::program::Policy& policy : policies) {
    if (policy.weights != WeightPolicy::kSplitK) continue;
    const std::optional<KCut> cut =
        encoder::program::FindKCut(graph, profile, interval, policy.k_extent);
    if (!cut) {
      cuts_.clear();
      return;
    }
    const auto has_its_extent = [&cut](const KCut& other) {
      return other.granularity == cut->granularity;
    };
    if (std::none_of(cuts_.begin(), cuts_.end(), has_its_extent)) cuts_.push_back(*cut);
  }
  if (cuts_.empty() || !cuts_.front().constant ||
      TransferOfConstants(profile, WeightPolicy::kSplitK) != TransferKind::kMoved)
    return;
  const KCut& cut = cuts_.front();
  const graph::Tensor& constant = graph.tensors[static_cast<size_t>(cut.constant->tensor)];
  const int home =
      encoder::program::HomeOf(graph, profile, cut.constant->tensor, base::TensorRole::kConstant);
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  int64_t transfers = cut.Slices();
  for (const KCut& other : cuts_) transfers = std::min(transfers, other.Slices());
  if (link != nullptr && link->pipelined) transfers = 1;
  constant_ = {.home = home,
               .channels = cut.result_channels,
               .bytes = base::BytesOf(constant.type, graph::ElementsOf(constant.shape)),
               .transfers = transfers};
}

bool SplitKBounds::Takes(int tensor) const {
  return std::any_of(cuts_.begin(), cuts_.end(),
                     [tensor](const KCut& cut) { return cut.Takes(tensor); });
}

std::vector<int64_t> SplitKBounds::FirstSlices(
    graph::tiling::ExtentsView result,
    const std::function<std::optional<Operand>(int tensor)>& operand_of) const {
  std::vector<int64_t> least;
  for (const KCut& cut : cuts_) {
    std::vector<Operand> operands;
    std::vector<SlicedFeature> features;
    operands.reserve(cut.features.size());
    for (const encoder::program::KOperand& along : cut.features) {
      std::optional<Operand> operand = operand_of(along.tensor);
      if (!operand) continue;
      const Operand& kept = operands.emplace_back(*std::move(operand));
      features.push_back(
          {&graph_.tensors[static_cast<size_t>(along.tensor)], along, *kept.route, kept.needed});
    }
    const SplitKCost cost =
        SplitKCostOf(graph_, profile_, cut, TransferOfConstants(profile_, WeightPolicy::kSplitK),
                     features, result);
    const bool is_first = least.empty();
    least.resize(cost.memories.size());
    for (size_t memory = 0; memory < least.size(); ++memory) {
      const int64_t here = cost.memories[memory].first_cycles;
      least[memory] = is_first ? here : std::min(least[memory], here);
    }
  }
  return least;
}

int64_t SplitKBounds::SumsBytes(int64_t results) const {
  if (cuts_.empty()) return 0;
  const graph::Operator& op = graph_.operators[static_cast<size_t>(cuts_.front().op)];
  const int64_t once =
      base::BytesOf(base::AccumulatorOf(encoder::program::WorkingType(graph_, op)), results);
  int64_t times = std::numeric_limits<int64_t>::max();
  for (const KCut& cut : cuts_) times = std::min(times, cut.Slices() - 1);
  return base::SaturatingMul(once, times);
}

}  // namespace tessera::search::cost

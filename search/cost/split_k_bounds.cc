// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/split_k_bounds.h"

#include <algorithm>
#include <limits>

#include "tessera/base/saturating.h"
#include "tessera/encoder/program/engine_choice.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/split_k_cost.h"

namespace tessera::search::cost {

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

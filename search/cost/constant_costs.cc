// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/tile_cost.h"

// The costs of the constants of a subgraph, operator by operator, and the times at which they
// arrive. Constants that are loaded once come in the prologue, or before it as far as they are
// prefetched; slices come with every tile:
//
//     link     | loaded once, slice 0 | slice 1 | slice 2 ..     the later slices arrive while
//     engines  |                      | operator             |   their operator works
namespace tessera::search::cost {

ConstantCost TileCosts::CostOfConstants(int index, int home) const {
  ConstantCost cost;
  const graph::Operator& op = graph_->operators[static_cast<size_t>(index)];
  const auto following = [&](int64_t bytes) {
    return FollowingTransferCycles(*profile_, home, OneRun(bytes));
  };
  for (auto at = op.weights.begin(); at != op.weights.end(); ++at) {
    const int constant = *at;
    if (std::find(op.weights.begin(), at, constant) != at)
      continue;  // the same constant as an earlier operand
    if (cut_ && cut_->Takes(constant)) continue;
    if (encoder::program::HomeOf(*graph_, *profile_, constant, base::TensorRole::kConstant) != home)
      continue;
    const int64_t bytes = encoder::program::ConstantBytes(*graph_, *profile_, constant, {index});
    base::Accumulate(cost.bytes, bytes);
    if (constant_transfer_ == TransferKind::kWhole) continue;
    base::Accumulate(cost.direct_cycles,
                     DirectCycles(*profile_, home, Direction::kRead, OneRun(bytes)));
    const int64_t again = encoder::program::ConstantBytes(*graph_, *profile_, constant, {});
    const hw_profiles::Port& port = profile_->memories[static_cast<size_t>(home)].port;
    base::Accumulate(cost.refetch_bytes, again);
    base::Accumulate(cost.refetch_cycles, base::WholeCycles(StreamCycles(
                                              port, OneRun(again), port.read_bytes_per_cycle)));
    if (!encoder::program::IsSliceable(*graph_, constant, interval_)) continue;
    base::Accumulate(cost.streamed_bytes, bytes);
    const encoder::program::Slicing slices =
        encoder::program::SlicesOf(*graph_, *profile_, constant, op);
    const int64_t last = std::max<int64_t>(0, bytes - (slices.count - 1) * slices.bytes);
    const int64_t first = slices.count == 1 ? last : slices.bytes;
    base::Accumulate(cost.first_slice_bytes, first);
    base::Accumulate(cost.first_slice_cycles,
                     TransferCycles(*profile_, home, Direction::kRead, OneRun(first)));
    if (slices.count == 1) continue;
    base::Accumulate(
        cost.later_slices_cycles,
        base::SaturatingAdd(base::SaturatingMul(following(slices.bytes), slices.count - 2),
                            following(last)));
  }
  return cost;
}

std::vector<ConstantFlow> TileCosts::ConstantFlowsOf(hw_profiles::WeightPolicy policy,
                                                     std::span<const int> prefetch) const {
  std::vector<ConstantFlow> flows;
  if (constant_transfer_ != TransferKind::kMoved) return flows;
  for (size_t home = 0; home < constant_homes_.size(); ++home) {
    ConstantFlow& flow = flows.emplace_back();
    flow.home = constant_homes_[home];
    if (policy != hw_profiles::WeightPolicy::kStreamed) continue;
    flow.first_slice_cycles = ConstantsIn(home).front().first_slice_cycles;
    flow.first_slice_bytes = ConstantsIn(home).front().first_slice_bytes;
    for (const ConstantCost& cost : ConstantsIn(home)) {
      base::Accumulate(flow.streamed_cycles,
                       base::SaturatingAdd(cost.first_slice_cycles, cost.later_slices_cycles));
      base::Accumulate(flow.streamed_bytes, cost.streamed_bytes);
    }
  }
  for (const LoadedOnce& constant : ConstantsLoadedOnce(*graph_, *profile_, interval_, policy)) {
    const auto home =
        std::lower_bound(constant_homes_.begin(), constant_homes_.end(), constant.home);
    ConstantFlow& flow = flows[static_cast<size_t>(home - constant_homes_.begin())];
    const int64_t rest = encoder::program::PartAhead(
                             graph_->tensors[static_cast<size_t>(constant.tensor)], prefetch, 0)
                             .BytesOf(constant.bytes);
    base::Accumulate(flow.prefetched_bytes, constant.bytes - rest);
    base::Accumulate(flow.resident_bytes, rest);
    base::Accumulate(flow.resident_cycles,
                     TransferCycles(*profile_, constant.home, Direction::kRead, OneRun(rest)));
  }
  return flows;
}

}  // namespace tessera::search::cost

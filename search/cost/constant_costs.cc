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
//
// In a subgraph of one tile the first slices may arrive before the prologue too; then the others
// begin with the step of their operator.
namespace tessera::search::cost {

using hw_profiles::Profile;

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
    const int64_t first = std::min(bytes, slices.bytes);
    base::Accumulate(cost.first_slice_bytes, first);
    base::Accumulate(cost.first_slice_cycles,
                     TransferCycles(*profile_, home, Direction::kRead, OneRun(first)));
    if (slices.count == 1) continue;
    const int64_t full = std::min(slices.count - 1, bytes / slices.bytes);
    const int64_t after_first = std::max<int64_t>(0, full - 1);
    base::Accumulate(cost.later_slices_cycles,
                     base::SaturatingAdd(base::SaturatingMul(following(slices.bytes), after_first),
                                         full == 0 ? 0 : following(bytes - full * slices.bytes)));
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
  if (encoder::program::PrefetchesSlices(policy, tiles_, prefetch))
    TakeSlicesAhead(prefetch, flows);
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

// Splits each stream into slices that are present when the subgraph begins, slices that arrive in
// the prologue, and the rest, which arrives while its operator works.
void TileCosts::TakeSlicesAhead(std::span<const int> prefetch,
                                std::vector<ConstantFlow>& flows) const {
  for (ConstantFlow& flow : flows) {
    flow = {.home = flow.home};
    flow.rest.resize(Operators());
  }
  for (const Stream& stream : StreamsOf(*graph_, *profile_, interval_)) {
    const auto home = std::lower_bound(constant_homes_.begin(), constant_homes_.end(), stream.home);
    ConstantFlow& flow = flows[static_cast<size_t>(home - constant_homes_.begin())];
    const int64_t ahead = encoder::program::SlicesAhead(stream.slices, prefetch);
    const ConstantsPart prologue = CostAhead(*profile_, stream, prefetch, 0);
    base::Accumulate(flow.resident_bytes, prologue.bytes);
    base::Accumulate(flow.resident_cycles, QueueCycles(*profile_, prologue, 1));
    base::Accumulate(flow.prefetched_bytes,
                     CostOfSlices(*profile_, stream, {0, ahead}).bytes - prologue.bytes);
    const ConstantsPart rest = CostOfSlices(*profile_, stream, {ahead, stream.slices});
    const int64_t cycles = QueueCycles(*profile_, rest, ahead);
    base::Accumulate(flow.streamed_bytes, rest.bytes);
    base::Accumulate(flow.streamed_cycles, cycles);
    base::Accumulate(flow.rest[stream.step].later_bytes, rest.bytes);
    base::Accumulate(flow.rest[stream.step].later_cycles, cycles);
  }
}

std::vector<Stream> StreamsOf(const graph::Graph& graph, const Profile& profile,
                              graph::Interval interval) {
  std::vector<Stream> streams;
  for (int index = interval.first; index <= interval.last; ++index) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(index)];
    for (auto at = op.weights.begin(); at != op.weights.end(); ++at) {
      if (std::find(op.weights.begin(), at, *at) != at ||
          !encoder::program::IsSliceable(graph, *at, interval))
        continue;
      const int home = encoder::program::HomeOf(graph, profile, *at, base::TensorRole::kConstant);
      if (home == profile.tile_memory) continue;
      const encoder::program::Slicing slicing = encoder::program::SlicesOf(graph, profile, *at, op);
      const auto extent_of = [&](int64_t slice) {
        return encoder::program::FirstExtentOfSlice(graph.tensors[static_cast<size_t>(*at)], op,
                                                    slicing, slice);
      };
      streams.push_back({.home = home,
                         .step = static_cast<size_t>(index - interval.first),
                         .slices = slicing.count,
                         .bytes = encoder::program::ConstantBytes(graph, profile, *at, {index}),
                         .full_bytes = slicing.bytes,
                         .full_extent = extent_of(0),
                         .last_extent = extent_of(slicing.count - 1)});
    }
  }
  return streams;
}

namespace {

// The transfer of bytes of a stream. Over a pipelined link only the first takes the latency.
void AddTransfer(const Profile& profile, int64_t bytes, ConstantsPart& part) {
  if (bytes == 0) return;
  base::Accumulate(part.bytes, bytes);
  const int64_t alone = TransferCycles(profile, part.home, Direction::kRead, OneRun(bytes));
  const int64_t latency = profile.memories[static_cast<size_t>(part.home)].port.read_latency_cycles;
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, part.home, profile.tile_memory);
  const bool hides = !part.transfers.empty() && link != nullptr && link->pipelined;
  part.transfers.push_back({hides ? 0 : latency, alone - latency});
}

}  // namespace

ConstantsPart CostOfSlices(const Profile& profile, const Stream& stream,
                           encoder::program::SliceRange slices) {
  ConstantsPart part{.home = stream.home};
  for (int64_t slice = slices.begin; slice < slices.end; ++slice)
    AddTransfer(profile, stream.BytesOf(slice), part);
  return part;
}

ConstantsPart CostAhead(const Profile& profile, const Stream& stream, std::span<const int> prefetch,
                        int ahead) {
  ConstantsPart part{.home = stream.home};
  const encoder::program::SliceRange slices =
      encoder::program::SlicesArriving(stream.slices, prefetch, ahead);
  for (int64_t slice = slices.begin; slice < slices.end; ++slice) {
    const int64_t extent = slice + 1 == stream.slices ? stream.last_extent : stream.full_extent;
    const auto arriving = [&](int subgraphs) {
      return encoder::program::SlicePartAhead(slice, extent, prefetch, subgraphs)
          .BytesOf(stream.BytesOf(slice));
    };
    if (part.transfers.empty()) part.continues = arriving(ahead + 1) > 0;
    AddTransfer(profile, arriving(ahead), part);
  }
  return part;
}

MovedConstants MovedConstantsOf(const graph::Graph& graph, const Profile& profile,
                                graph::Interval interval, hw_profiles::WeightPolicy weights) {
  if (TransferOfConstants(profile, weights) != TransferKind::kMoved) return {};
  MovedConstants moved{.once = ConstantsLoadedOnce(graph, profile, interval, weights),
                       .slices = {}};
  if (weights == hw_profiles::WeightPolicy::kStreamed)
    moved.slices = StreamsOf(graph, profile, interval);
  return moved;
}

namespace {

// Returns what subgraph number `number` carries.
Prefetches CarriedBy(const graph::Graph& graph, const Profile& profile,
                     std::span<const plan::Subgraph> subgraphs, size_t number) {
  Prefetches prefetches{.own = subgraphs[number].prefetch};
  for (size_t i = number + 1; i < subgraphs.size(); ++i) {
    const plan::Subgraph& later = subgraphs[i];
    const auto ahead = static_cast<int>(i - number);
    if (std::find(later.prefetch.begin(), later.prefetch.end(), ahead) != later.prefetch.end())
      prefetches.Carry(graph, profile,
                       MovedConstantsOf(graph, profile, later.interval, later.weights), later.tiles,
                       later.prefetch, ahead);
  }
  return prefetches;
}

}  // namespace

Prefetches PrefetchesOf(const graph::Graph& graph, const Profile& profile,
                        std::span<const plan::Subgraph> subgraphs, size_t number) {
  Prefetches prefetches = CarriedBy(graph, profile, subgraphs, number);
  const auto continues = [](const Prefetches::Part& part) { return part.continues; };
  if (number > 0 && std::any_of(prefetches.carried.begin(), prefetches.carried.end(), continues))
    prefetches.Continue(profile, CarriedBy(graph, profile, subgraphs, number - 1));
  return prefetches;
}

void Prefetches::Carry(const graph::Graph& graph, const Profile& profile,
                       const MovedConstants& constants, int64_t tiles,
                       std::span<const int> prefetch, int ahead) {
  const auto add = [this](const Part& more) {
    auto part = std::find_if(carried.begin(), carried.end(),
                             [&](const Part& each) { return each.home == more.home; });
    if (part == carried.end()) part = carried.insert(part, Part{.home = more.home});
    if (part->transfers.empty()) part->continues = more.continues;
    base::Accumulate(part->bytes, more.bytes);
    part->transfers.insert(part->transfers.end(), more.transfers.begin(), more.transfers.end());
  };
  for (const LoadedOnce& constant : constants.once) {
    const auto arriving = [&](int subgraphs) {
      return encoder::program::PartAhead(graph.tensors[static_cast<size_t>(constant.tensor)],
                                         prefetch, subgraphs)
          .BytesOf(constant.bytes);
    };
    Part part{.home = constant.home, .continues = arriving(ahead + 1) > 0};
    AddTransfer(profile, arriving(ahead), part);
    add(part);
  }
  if (!encoder::program::PrefetchesSlices(hw_profiles::WeightPolicy::kStreamed, tiles, prefetch))
    return;
  for (const Stream& stream : constants.slices) add(CostAhead(profile, stream, prefetch, ahead));
}

// The last transfers of the queue before, of which all but one are under way at the same time as
// the first of this one, move their bytes after it is requested.
void Prefetches::Continue(const Profile& profile, const Prefetches& before) {
  for (Part& part : carried) {
    part.requested_before = 0;
    if (!part.continues) continue;
    const hw_profiles::Link* link =
        hw_profiles::LinkBetween(profile, part.home, profile.tile_memory);
    const auto other = std::find_if(before.carried.begin(), before.carried.end(),
                                    [&](const Part& each) { return each.home == part.home; });
    const auto most = static_cast<size_t>(link == nullptr ? 0 : link->outstanding - 1);
    const size_t last = std::min(most, other->transfers.size());
    std::for_each(other->transfers.end() - static_cast<std::ptrdiff_t>(last),
                  other->transfers.end(), [&part](const ConstantsPart::Transfer& transfer) {
                    base::Accumulate(part.requested_before, transfer.cycles);
                  });
  }
}

}  // namespace tessera::search::cost

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::verify {

std::vector<int> CarriedBy(const Plan& plan, int carrier) {
  std::vector<int> later;
  for (auto i = static_cast<size_t>(carrier) + 1; i < plan.subgraphs.size(); ++i) {
    const std::vector<int>& ahead = plan.subgraphs[i].prefetch;
    const auto number = static_cast<int>(i);
    if (std::count(ahead.begin(), ahead.end(), number - carrier) > 0) later.push_back(number);
  }
  return later;
}

namespace {

__extension__ using Wide = __int128;

int64_t ExtentOf(const graph::Graph& network, int constant) {
  const graph::Shape& shape = network.tensors[static_cast<size_t>(constant)].shape;
  return shape.empty() ? 1 : shape[0];
}

}  // namespace

int64_t Portion(int64_t whole, int64_t part, int64_t parts) {
  return static_cast<int64_t>(static_cast<Wide>(whole) * part / parts);
}

Range ShareOf(const graph::Graph& network, const Subgraph& user, int constant, int ahead) {
  const int64_t extent = ExtentOf(network, constant);
  const std::vector<int>& parts = user.prefetch;
  if (parts.empty()) return ahead == 0 ? Range{0, extent} : Range{0, 0};
  int64_t earlier = 0;
  int64_t here = 0;
  for (const int part : parts) {
    earlier += part > ahead ? 1 : 0;
    here += part == ahead ? 1 : 0;
  }
  const auto all = static_cast<int64_t>(parts.size());
  return {Portion(extent, earlier, all), Portion(extent, earlier + here, all)};
}

int64_t ShareOfBytes(const graph::Graph& network, const Subgraph& user, int constant, int ahead,
                     int64_t bytes) {
  const Range share = ShareOf(network, user, constant, ahead);
  const int64_t extent = ExtentOf(network, constant);
  return Portion(bytes, share.end, extent) - Portion(bytes, share.begin, extent);
}

bool TakesSlicesAhead(const Subgraph& subgraph) {
  return subgraph.weights == hw_profiles::WeightPolicy::kStreamed && subgraph.tiles == 1 &&
         !subgraph.prefetch.empty();
}

namespace {

constexpr int64_t kPartsOfSlice = 8;

}  // namespace

int64_t SlicesAhead(const Subgraph& subgraph) {
  if (!TakesSlicesAhead(subgraph)) return 0;
  return base::CeilDiv(static_cast<int64_t>(subgraph.prefetch.size()), kPartsOfSlice);
}

Range ShareOfSlice(const Subgraph& user, int64_t slice, int64_t extent, int ahead) {
  const auto all = static_cast<int64_t>(user.prefetch.size());
  const int64_t end = std::min(all, (slice + 1) * kPartsOfSlice);
  int64_t earlier = 0;
  int64_t here = 0;
  for (int64_t part = slice * kPartsOfSlice; part < end; ++part) {
    earlier += user.prefetch[static_cast<size_t>(part)] > ahead ? 1 : 0;
    here += user.prefetch[static_cast<size_t>(part)] == ahead ? 1 : 0;
  }
  const int64_t parts = end - slice * kPartsOfSlice;
  return {Portion(extent, earlier, parts), Portion(extent, earlier + here, parts)};
}

Range FirstAxisOfSlice(const Plan& plan, const graph::Operator& op, int constant, int64_t slice) {
  const graph::Shape& shape = plan.network.tensors[static_cast<size_t>(constant)].shape;
  if (shape.empty()) return {0, 1};
  if (op.kind == base::OperatorKind::kMatmul && shape.size() > 1) return {0, shape[0]};
  const Slicing slicing = SlicingOf(plan, op, constant);
  return {slice * slicing.granularity, std::min((slice + 1) * slicing.granularity, shape[0])};
}

using hw_profiles::HaloStorage;

SubgraphResidency::SubgraphResidency(const Plan& plan, const std::vector<Users>& users,
                                     int subgraph)
    : plan_(&plan), users_(&users), subgraph_(subgraph) {
  for (const int tensor : TensorsOf(plan.network, Current().interval))
    held_.emplace(tensor, ResidencyOf(plan, users, Current(), tensor));
  k_slices_ = FindKSlices(plan, Current());
}

SubgraphResidency::SubgraphResidency(const Plan& plan, const std::vector<Users>& users,
                                     int subgraph, const std::set<int>& cached)
    : SubgraphResidency(plan, users, subgraph) {
  for (const int tensor : cached) cached_.emplace(tensor, Current().halo);
}

SubgraphResidency SubgraphResidency::OfBuffers(const Plan& plan, const std::vector<Users>& users,
                                               int subgraph) {
  SubgraphResidency here(plan, users, subgraph);
  const std::set<BufferUse> buffers(plan.buffers.begin(), plan.buffers.end());
  const graph::Interval interval = here.Current().interval;
  for (auto& [tensor, held] : here.held_) {
    // Whether there is a buffer of that kind, of any phase.
    const auto has = [&, tensor = tensor](BufferKind kind, int op = -1) {
      return buffers.contains({kind, subgraph, tensor, op, 0, 0}) ||
             buffers.contains({kind, subgraph, tensor, op, 1, 0});
    };
    const bool streamed = held.residency == Residency::kStreamed;
    held.residency = Residency::kDirect;
    if (buffers.contains({BufferKind::kWhole, -1, tensor, -1, 0, 0}))
      held.residency = Residency::kWhole;
    if (held.role == base::TensorRole::kConstant) {
      if (buffers.contains(here.ResidentOf(tensor))) held.residency = Residency::kResident;
    } else {
      const bool rolls = buffers.contains({BufferKind::kRollingBuffer, subgraph, tensor, -1, 0, 0});
      if (rolls) here.cached_.emplace(tensor, HaloStorage::kRollingBuffer);
      if (buffers.contains(here.LineOf(tensor)))
        here.cached_.emplace(tensor, HaloStorage::kLineBuffer);
      if (has(BufferKind::kHalo)) here.cached_.emplace(tensor, HaloStorage::kAdjacent);
      if (rolls || has(BufferKind::kTile)) {
        held.residency = held.role == base::TensorRole::kFeature ? Residency::kInner
                         : held.made                             ? Residency::kStored
                                                                 : Residency::kLoaded;
      }
    }
    for (int op = interval.first; op <= interval.last && streamed; ++op) {
      if (has(BufferKind::kSlice, op)) held.residency = Residency::kStreamed;
    }
  }
  return here;
}

std::vector<int> SubgraphResidency::All(Residency residency) const {
  std::vector<int> tensors;
  for (int op = Current().interval.first; op <= Current().interval.last; ++op) {
    for (const auto* list : {&At(op).inputs, &At(op).weights, &At(op).outputs}) {
      for (const int tensor : *list) {
        if (HeldOf(tensor).residency != residency) continue;
        if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end())
          tensors.push_back(tensor);
      }
    }
  }
  return tensors;
}

bool SubgraphResidency::Is(int tensor, Residency residency) const {
  const auto held = held_.find(tensor);
  return held != held_.end() && held->second.residency == residency;
}

bool SubgraphResidency::IsInTiles(int tensor) const {
  return Is(tensor, Residency::kInner) || Is(tensor, Residency::kLoaded) ||
         Is(tensor, Residency::kStored);
}

bool SubgraphResidency::IsStreamed(int op, int tensor) const {
  const auto uses = [tensor](const std::vector<int>& list) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  };
  return Is(tensor, Residency::kStreamed) && (uses(At(op).inputs) || uses(At(op).weights));
}

std::vector<Stream> SubgraphResidency::StreamsOf(int op) const {
  std::vector<Stream> streams;
  for (const auto* list : {&At(op).inputs, &At(op).weights}) {
    for (const int tensor : *list) {
      if (!Is(tensor, Residency::kStreamed)) continue;
      const bool seen = std::any_of(streams.begin(), streams.end(),
                                    [&](const Stream& stream) { return stream.tensor == tensor; });
      const int64_t slices =
          k_slices_ ? k_slices_->Count() : SlicingOf(*plan_, At(op), tensor).slices;
      if (!seen) streams.push_back({tensor, slices});
    }
  }
  return streams;
}

int64_t SubgraphResidency::RoundsOf(int op) const {
  int64_t rounds = 1;
  for (const Stream& stream : StreamsOf(op)) rounds = std::max(rounds, stream.slices);
  return rounds;
}

std::vector<int64_t> SubgraphResidency::SlicesAheadOf(int op, int constant, int ahead) const {
  std::vector<int64_t> slices;
  if (!TakesSlicesAhead(Current()) || !IsStreamed(op, constant)) return slices;
  const int64_t end = std::min(SlicesAhead(Current()), SlicingOf(*plan_, At(op), constant).slices);
  for (int64_t slice = 0; slice < end; ++slice) {
    const Range held = FirstAxisOfSlice(*plan_, At(op), constant, slice);
    const Range share = ShareOfSlice(Current(), slice, held.end - held.begin, ahead);
    if (share.begin < share.end) slices.push_back(slice);
  }
  return slices;
}

bool SubgraphResidency::HasSlicesAhead(int constant, int ahead) const {
  for (int op = Current().interval.first; op <= Current().interval.last; ++op) {
    if (!SlicesAheadOf(op, constant, ahead).empty()) return true;
  }
  return false;
}

int64_t SubgraphResidency::LagOf(int tensor) const {
  const graph::Interval touched =
      TouchedIn((*users_)[static_cast<size_t>(tensor)], Current().interval);
  return IsLate(touched.first) ? 1 : 0;
}

bool SubgraphResidency::Caches(int tensor, HaloStorage halo) const {
  const auto cached = cached_.find(tensor);
  return cached != cached_.end() && cached->second == halo;
}

std::vector<int> SubgraphResidency::CachedAt(int op, bool first) const {
  std::vector<int> tensors;
  for (const auto* list : {&At(op).inputs, &At(op).outputs}) {
    for (const int tensor : *list) {
      if (!cached_.contains(tensor)) continue;
      const graph::Interval touched =
          TouchedIn((*users_)[static_cast<size_t>(tensor)], Current().interval);
      const int edge = first ? touched.first : touched.last;
      if (edge == op && std::find(tensors.begin(), tensors.end(), tensor) == tensors.end())
        tensors.push_back(tensor);
    }
  }
  return tensors;
}

std::vector<int> SubgraphResidency::RestoredBy(int op) const {
  std::vector<int> tensors = CachedFirstBy(op);
  std::erase_if(tensors, [this](int tensor) { return !Caches(tensor, HaloStorage::kLineBuffer); });
  return tensors;
}

std::vector<int> SubgraphResidency::SavedBy(int op) const {
  std::vector<int> tensors = CachedLastBy(op);
  std::erase_if(tensors,
                [this](int tensor) { return Caches(tensor, HaloStorage::kRollingBuffer); });
  return tensors;
}

BufferUse SubgraphResidency::TileOf(int tensor, int phase) const {
  const bool rolls = Caches(tensor, HaloStorage::kRollingBuffer);
  return {rolls ? BufferKind::kRollingBuffer : BufferKind::kTile,
          subgraph_,
          tensor,
          -1,
          rolls ? 0 : phase,
          0};
}

std::string SubgraphResidency::EngineNameOf(int op) const {
  const hw_profiles::Engine* engine = EngineOf(*plan_, At(op));
  return engine == nullptr ? "" : engine->name;
}

bool SubgraphResidency::HasScratch(int op) const {
  if (IsOnHost(*plan_, At(op))) return false;
  return At(op).scratch_bytes > 0 ||
         std::any_of(
             plan_->profile.scratch.begin(), plan_->profile.scratch.end(),
             [&](const hw_profiles::Scratch& scratch) { return scratch.kind == At(op).kind; });
}

}  // namespace tessera::plan::verify

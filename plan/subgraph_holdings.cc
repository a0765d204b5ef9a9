#include "tessera/plan/subgraph_holdings.h"

#include <algorithm>
#include <utility>

namespace tessera::plan {

using hw_profiles::HaloStorage;

SubgraphHoldings::SubgraphHoldings(const Plan& plan, const std::vector<Users>& users, int subgraph,
                                   std::set<int> cached)
    : plan_(&plan), subgraph_(subgraph), cached_(std::move(cached)) {
  for (const int tensor : TensorsOf(plan.network, Current().interval))
    held_.emplace(tensor, HoldingOf(plan, users, Current(), tensor));
  depth_ = FindDepthSlices(plan, Current());
}

std::vector<int> SubgraphHoldings::All(Holding holding) const {
  std::vector<int> tensors;
  for (int op = Current().interval.first; op <= Current().interval.last; ++op) {
    for (const auto* list : {&At(op).inputs, &At(op).weights, &At(op).outputs}) {
      for (const int tensor : *list) {
        if (HeldOf(tensor).holding != holding) continue;
        if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) tensors.push_back(tensor);
      }
    }
  }
  return tensors;
}

std::vector<Stream> SubgraphHoldings::StreamsOf(int op) const {
  std::vector<Stream> streams;
  for (const auto* list : {&At(op).inputs, &At(op).weights}) {
    for (const int tensor : *list) {
      if (HeldOf(tensor).holding != Holding::kStreamed) continue;
      const bool seen = std::any_of(streams.begin(), streams.end(),
                                    [&](const Stream& stream) { return stream.tensor == tensor; });
      const int64_t slices = depth_ ? depth_->Count() : SlicingOf(*plan_, At(op), tensor).slices;
      if (!seen) streams.push_back({tensor, slices});
    }
  }
  return streams;
}

bool SubgraphHoldings::Caches(int tensor, HaloStorage halo) const {
  return Current().halo == halo && cached_.contains(tensor);
}

std::vector<int> SubgraphHoldings::CachedAt(int op, bool first) const {
  std::vector<int> tensors;
  for (const int tensor : cached_) {
    std::vector<int> touching;
    for (int each = Current().interval.first; each <= Current().interval.last; ++each) {
      const auto lists = {&At(each).inputs, &At(each).outputs};
      const bool touches = std::any_of(lists.begin(), lists.end(), [tensor](const std::vector<int>* list) {
        return std::find(list->begin(), list->end(), tensor) != list->end();
      });
      if (touches) touching.push_back(each);
    }
    if ((first ? touching.front() : touching.back()) == op) tensors.push_back(tensor);
  }
  return tensors;
}

bool SubgraphHoldings::Restores(int op) const {
  return Current().halo == HaloStorage::kCopy && !CachedFirstBy(op).empty();
}
bool SubgraphHoldings::Saves(int op) const {
  const bool copies = Current().halo == HaloStorage::kCopy || Current().halo == HaloStorage::kAdjacent;
  return copies && !CachedLastBy(op).empty();
}

BufferUse SubgraphHoldings::TileOf(int tensor, int parity) const {
  const bool ring = Caches(tensor, HaloStorage::kRing);
  return {ring ? BufferKind::kRing : BufferKind::kTile, subgraph_, tensor, -1, ring ? 0 : parity, 0};
}

std::string SubgraphHoldings::EngineNameOf(int op) const {
  const hw_profiles::Engine* engine = EngineOf(*plan_, At(op));
  return engine == nullptr ? "" : engine->name;
}

bool SubgraphHoldings::HasScratch(int op) const {
  return At(op).scratch_bytes > 0 ||
         std::any_of(plan_->profile.scratch.begin(), plan_->profile.scratch.end(),
                     [&](const hw_profiles::Scratch& scratch) { return scratch.kind == At(op).kind; });
}

}  // namespace tessera::plan

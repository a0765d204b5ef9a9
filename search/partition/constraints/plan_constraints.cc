#include "tessera/search/partition/constraints/plan_constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::search::partition::constraints {
namespace {

using graph::Interval;

bool Overlap(Interval a, Interval b) { return a.first <= b.last && b.first <= a.last; }

bool Contains(Interval outer, Interval inner) {
  return outer.first <= inner.first && inner.last <= outer.last;
}

int LengthOf(Interval interval) { return interval.last - interval.first + 1; }

// Whether the demand alone lets the interval be a subgraph.
bool Allows(const Demand& demand, Interval interval) {
  switch (demand.kind) {
    case DemandKind::kTogether:
      return !Overlap(demand.interval, interval) || Contains(interval, demand.interval);
    case DemandKind::kApart:
      return !Contains(interval, demand.interval) || interval.first == demand.interval.first;
    case DemandKind::kSubgraph:
      return !Overlap(demand.interval, interval) || interval == demand.interval;
    case DemandKind::kKeep:
    case DemandKind::kSpill:
    case DemandKind::kAddress:
      break;
  }
  return true;
}

// The intervals joined that share operators, in ascending order.
std::vector<Interval> Joined(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](Interval a, Interval b) { return a.first < b.first; });
  std::vector<Interval> joined;
  for (const Interval interval : intervals) {
    if (!joined.empty() && interval.first <= joined.back().last) {
      joined.back().last = std::max(joined.back().last, interval.last);
    } else {
      joined.push_back(interval);
    }
  }
  return joined;
}

std::vector<tiling::PinnedBuffer> PinsOf(const WayDemand& way, int subgraph) {
  std::vector<tiling::PinnedBuffer> pins;
  for (const auto& [id, offset] : way.addresses)
    pins.push_back({.id = fmt::format("s{}/{}", subgraph, id), .offset = offset, .required = true});
  return pins;
}

}  // namespace

bool Allows(const WayDemand& way, const encoder::program::Policy& policy) {
  return (!way.weights || policy.weights == *way.weights) &&
         (!way.in_place || policy.in_place == *way.in_place) && (!way.halo || policy.halo == *way.halo);
}

Demands::Demands(const graph::Graph& graph, std::vector<Demand> demands) : demands_(std::move(demands)) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  for (const Demand& demand : demands_) {
    if (demand.kind == DemandKind::kTogether || demand.kind == DemandKind::kSubgraph)
      blocks_.push_back(demand.interval);
    if (demand.kind == DemandKind::kAddress) {
      const std::string& id = graph.tensors[static_cast<size_t>(demand.tensor)].id;
      pins_[demand.memory].push_back({.id = id, .offset = demand.offset, .required = false});
    }
    if (demand.kind != DemandKind::kKeep) continue;
    const graph::Usage& usage = usages[static_cast<size_t>(demand.tensor)];
    stays_.push_back({demand.tensor, usage.producer, usage.consumers.back()});
  }
  blocks_ = Joined(std::move(blocks_));
}

bool Demands::Allow(Interval interval) const {
  return std::all_of(demands_.begin(), demands_.end(),
                     [&](const Demand& demand) { return Allows(demand, interval); });
}

bool Demands::Allow(Interval interval, const std::vector<int>& kept) const {
  const auto is_kept = [&](int tensor) { return std::binary_search(kept.begin(), kept.end(), tensor); };
  const auto crosses = [](const Stay& stay, int position) {
    return stay.maker < position && position <= stay.last_reader;
  };
  const bool stay = std::all_of(stays_.begin(), stays_.end(), [&](const Stay& each) {
    return (!crosses(each, interval.first) && !crosses(each, interval.last + 1)) || is_kept(each.tensor);
  });
  return stay && Allow(interval) &&
         std::none_of(kept.begin(), kept.end(), [&](int t) { return MustSpill(t); });
}

const WayDemand* Demands::WayOf(Interval interval) const {
  for (const Demand& demand : demands_) {
    if (demand.kind == DemandKind::kSubgraph && demand.interval == interval) return &demand.way;
  }
  return nullptr;
}

std::vector<tiling::PinnedBuffer> Demands::PinsOf(Interval interval, int subgraph,
                                                  const std::string& tile_memory) const {
  const WayDemand* way = WayOf(interval);
  std::vector<tiling::PinnedBuffer> pins =
      way == nullptr ? std::vector<tiling::PinnedBuffer>() : constraints::PinsOf(*way, subgraph);
  const std::vector<tiling::PinnedBuffer> whole = PinsIn(tile_memory);
  pins.insert(pins.end(), whole.begin(), whole.end());
  return pins;
}

std::vector<tiling::PinnedBuffer> Demands::PinsIn(const std::string& memory) const {
  const auto pins = pins_.find(memory);
  return pins == pins_.end() ? std::vector<tiling::PinnedBuffer>() : pins->second;
}

int Demands::Inseparable(Interval interval) const {
  int most = 0;
  for (const Interval block : blocks_) {
    if (Contains(interval, block)) most = std::max(most, LengthOf(block));
  }
  return most;
}

bool Demands::MustKeep(int tensor) const {
  return std::any_of(stays_.begin(), stays_.end(),
                     [tensor](const Stay& stay) { return stay.tensor == tensor; });
}

bool Demands::MustSpill(int tensor) const {
  return std::any_of(demands_.begin(), demands_.end(), [tensor](const Demand& demand) {
    return demand.kind == DemandKind::kSpill && demand.tensor == tensor;
  });
}

bool Demands::AreAllOf(const std::vector<int>& kept) const {
  return std::all_of(kept.begin(), kept.end(), [this](int tensor) { return MustKeep(tensor); });
}

}  // namespace tessera::search::partition::constraints

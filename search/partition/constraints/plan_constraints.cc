// SPDX-License-Identifier: Apache-2.0

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

// Whether the constraint alone allows the interval as a subgraph.
bool Allows(const PlanConstraint& constraint, Interval interval) {
  switch (constraint.kind) {
    case PlanConstraintKind::kTogether:
      return !Overlap(constraint.interval, interval) || Contains(interval, constraint.interval);
    case PlanConstraintKind::kApart:
      return !Contains(interval, constraint.interval) ||
             interval.first == constraint.interval.first;
    case PlanConstraintKind::kSubgraph:
      return !Overlap(constraint.interval, interval) || interval == constraint.interval;
    case PlanConstraintKind::kKeep:
    case PlanConstraintKind::kSpill:
    case PlanConstraintKind::kAddress:
      break;
  }
  return true;
}

// Joins intervals that share operators. Returns the results in ascending order.
std::vector<Interval> Joined(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](Interval a, Interval b) { return a.first < b.first; });
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

std::vector<tiling::PinnedBuffer> PinsOf(const TileConfigConstraint& config, int subgraph) {
  std::vector<tiling::PinnedBuffer> pins;
  for (const auto& [id, offset] : config.addresses)
    pins.push_back({.id = fmt::format("s{}/{}", subgraph, id), .offset = offset, .required = true});
  return pins;
}

}  // namespace

bool Allows(const TileConfigConstraint& config, const encoder::program::Policy& policy) {
  return (!config.weights || policy.weights == *config.weights) &&
         (!config.in_place || policy.in_place == *config.in_place) &&
         (!config.halo || policy.halo == *config.halo) &&
         (!config.serialized || policy.serialized == *config.serialized);
}

PlanConstraints::PlanConstraints(const graph::Graph& graph, std::vector<PlanConstraint> constraints)
    : constraints_(std::move(constraints)) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  for (const PlanConstraint& constraint : constraints_) {
    if (constraint.kind == PlanConstraintKind::kTogether ||
        constraint.kind == PlanConstraintKind::kSubgraph)
      blocks_.push_back(constraint.interval);
    if (constraint.kind == PlanConstraintKind::kAddress) {
      const std::string& id = graph.tensors[static_cast<size_t>(constraint.tensor)].id;
      pins_[constraint.memory].push_back(
          {.id = id, .offset = constraint.offset, .required = false});
    }
    if (constraint.kind != PlanConstraintKind::kKeep) continue;
    const graph::Usage& usage = usages[static_cast<size_t>(constraint.tensor)];
    stays_.push_back({constraint.tensor, usage.producer, usage.consumers.back()});
  }
  blocks_ = Joined(std::move(blocks_));
}

bool PlanConstraints::Allow(Interval interval) const {
  return std::all_of(
      constraints_.begin(), constraints_.end(),
      [&](const PlanConstraint& constraint) { return Allows(constraint, interval); });
}

bool PlanConstraints::Allow(Interval interval, const std::vector<int>& kept) const {
  const auto is_kept = [&](int tensor) {
    return std::binary_search(kept.begin(), kept.end(), tensor);
  };
  const auto crosses = [](const Stay& stay, int position) {
    return stay.maker < position && position <= stay.last_reader;
  };
  const bool stay = std::all_of(stays_.begin(), stays_.end(), [&](const Stay& each) {
    return (!crosses(each, interval.first) && !crosses(each, interval.last + 1)) ||
           is_kept(each.tensor);
  });
  return stay && Allow(interval) &&
         std::none_of(kept.begin(), kept.end(), [&](int t) { return MustSpill(t); });
}

const TileConfigConstraint* PlanConstraints::ConfigOf(Interval interval) const {
  for (const PlanConstraint& constraint : constraints_) {
    if (constraint.kind == PlanConstraintKind::kSubgraph && constraint.interval == interval)
      return &constraint.config;
  }
  return nullptr;
}

std::vector<tiling::PinnedBuffer> PlanConstraints::PinsOf(Interval interval, int subgraph,
                                                          const std::string& tile_memory) const {
  const TileConfigConstraint* config = ConfigOf(interval);
  std::vector<tiling::PinnedBuffer> pins = config == nullptr
                                               ? std::vector<tiling::PinnedBuffer>()
                                               : constraints::PinsOf(*config, subgraph);
  const std::vector<tiling::PinnedBuffer> whole = PinsIn(tile_memory);
  pins.insert(pins.end(), whole.begin(), whole.end());
  return pins;
}

std::vector<tiling::PinnedBuffer> PlanConstraints::PinsIn(const std::string& memory) const {
  const auto pins = pins_.find(memory);
  return pins == pins_.end() ? std::vector<tiling::PinnedBuffer>() : pins->second;
}

int PlanConstraints::Inseparable(Interval interval) const {
  int most = 0;
  for (const Interval block : blocks_) {
    if (Contains(interval, block)) most = std::max(most, LengthOf(block));
  }
  return most;
}

bool PlanConstraints::MustKeep(int tensor) const {
  return std::any_of(stays_.begin(), stays_.end(),
                     [tensor](const Stay& stay) { return stay.tensor == tensor; });
}

bool PlanConstraints::MustSpill(int tensor) const {
  return std::any_of(
      constraints_.begin(), constraints_.end(), [tensor](const PlanConstraint& constraint) {
        return constraint.kind == PlanConstraintKind::kSpill && constraint.tensor == tensor;
      });
}

bool PlanConstraints::AreAllOf(const std::vector<int>& kept) const {
  return std::all_of(kept.begin(), kept.end(), [this](int tensor) { return MustKeep(tensor); });
}

}  // namespace tessera::search::partition::constraints

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/partition/choices/interval_choices.h"

// The choices of an interval that are not tried at first: policies and tile shapes that were
// skipped, choices that were put aside for their score, and the few that are tried in haste.
namespace tessera::search::partition::choices {

std::optional<cost::Cost> IntervalChoices::UntriedBound() const {
  if (expanded_->refusal) return std::nullopt;
  if (LeavesOutShapes() || LeavesOutPolicies()) return bound_;
  if (expanded_->aside.empty()) return std::nullopt;
  cost::Cost least = bound_;
  double score = std::numeric_limits<double>::infinity();
  for (const auto& [aside, its] : expanded_->aside) score = std::min(score, its);
  least.score = std::max(least.score, score);
  return least;
}

bool IntervalChoices::LeavesOutShapes() const {
  return !expanded_->refusal && (!expanded_->shapes.IsExhausted() || expanded_->lost_shapes);
}

int64_t IntervalChoices::CountUntried() const {
  if (expanded_->refusal) return 0;
  const int64_t shapes = expanded_->shapes.CountRest();
  const auto all = shapes + static_cast<int64_t>(expanded_->tried.size());
  const auto further = static_cast<int64_t>(expanded_->further.size());
  return shapes + all * further / static_cast<int64_t>(kPoliciesForOne);
}

const std::vector<encoder::program::Policy>& IntervalChoices::Policies() {
  if (expanded_->policies.empty()) FindPolicies();
  return expanded_->policies;
}

// If a tile is required, all of its policies are considered, although some make the same program: a
// constraint may require one of them. The same if no other policy satisfies the constraint.
void IntervalChoices::FindPolicies() {
  encoder::program::OfferedPolicies offered =
      encoder::program::OfferPolicies(context_->graph, context_->profile, interval_, kept_);
  expanded_->policies = std::move(offered.first);
  expanded_->further = std::move(offered.further);
  expanded_->lists_policies = offered.all;
  if (config_ != nullptr) {
    const auto is_refused = [this](const encoder::program::Policy& policy) {
      return !constraints::Allows(*config_, policy);
    };
    std::erase_if(expanded_->policies, is_refused);
    std::erase_if(expanded_->further, is_refused);
    if (config_->tile || expanded_->policies.empty()) {
      expanded_->policies =
          encoder::program::AllowedPolicies(context_->graph, context_->profile, interval_, kept_);
      std::erase_if(expanded_->policies, is_refused);
      expanded_->further.clear();
    }
  }
  if (context_->previous == nullptr) return;
  if (const encoder::program::Policy* before = context_->previous->PolicyOf(interval_))
    LookFirstAt(*before);
}

// The policy of a previous plan is considered first, if it is still valid.
void IntervalChoices::LookFirstAt(const encoder::program::Policy& before) {
  const auto rest = std::stable_partition(expanded_->further.begin(), expanded_->further.end(),
                                          [&before](const encoder::program::Policy& policy) {
                                            return policy.weights == before.weights &&
                                                   policy.halo == before.halo &&
                                                   policy.k_extent == before.k_extent;
                                          });
  expanded_->policies.insert(expanded_->policies.end(), expanded_->further.begin(), rest);
  expanded_->further.erase(expanded_->further.begin(), rest);
}

// Tiles that keep rows although none are shared are considered if they are required.
encoder::program::TilesMade IntervalChoices::Made() const {
  const bool all = config_ != nullptr && (config_->tile || config_->halo);
  return all ? encoder::program::TilesMade::kAll : encoder::program::TilesMade::kThatDiffer;
}

size_t IntervalChoices::Extend(size_t most) {
  return ExtendBelow(std::numeric_limits<double>::infinity(), most);
}

size_t IntervalChoices::ExtendBelow(double score, size_t most) {
  if (expanded_ == nullptr || expanded_->refusal) return 0;
  std::map<Range, std::vector<graph::tiling::TileShape>> aside;
  size_t added = 0;
  for (const auto& [which, least] : expanded_->aside) {
    if (least < score) aside[which.first].push_back(which.second);
  }
  for (const auto& [policies, shapes] : aside) {
    for (const graph::tiling::TileShape& shape : shapes) expanded_->aside.erase({policies, shape});
    AddTileConfigs(shapes, policies, score, context_->stop);
    added += shapes.size();
  }
  if (added == 0) {
    const std::vector<graph::tiling::TileShape> rest = expanded_->shapes.Rest(most);
    if (!rest.empty()) AddShapes(rest, context_->stop, score);
    added = rest.size();
  }
  if (added == 0) added = TakePolicies(score, most);
  expanded_->configs.reset();
  return added;
}

// Tries some of the policies that were skipped with every shape that was tried.
size_t IntervalChoices::TakePolicies(double score, size_t most) {
  std::vector<encoder::program::Policy>& further = expanded_->further;
  if (further.empty()) return 0;
  const size_t shapes = std::max<size_t>(1, expanded_->tried.size());
  const size_t count =
      std::min(further.size(), std::max<size_t>(1, most * kPoliciesForOne / shapes));
  const std::span<const encoder::program::Policy> taken = std::span(further).first(count);
  const Range range = {expanded_->policies.size(), expanded_->policies.size() + count};
  expanded_->policies.insert(expanded_->policies.end(), taken.begin(), taken.end());
  if (expanded_->tiles) expanded_->tiles->Allow(taken);
  further.erase(further.begin(), further.begin() + static_cast<std::ptrdiff_t>(count));
  expanded_->configs.reset();
  AddTileConfigs(expanded_->tried, range, score, context_->stop);
  const size_t added = std::max<size_t>(1, shapes * count / kPoliciesForOne);
  expanded_->effort_further += static_cast<int64_t>(added);
  return added;
}

void IntervalChoices::TryAll(size_t most) {
  const auto missing =
      expanded_->shapes.CountRest() + static_cast<int64_t>(expanded_->aside.size());
  if (missing > static_cast<int64_t>(most)) return;
  while (expanded_->shapes.CountRest() > 0 || !expanded_->aside.empty()) {
    if (ExtendBelow(std::numeric_limits<double>::infinity(), most) == 0) return;
  }
}

// For each shape, either all choices under these policies are put aside, or none.
void IntervalChoices::PutAside(Range policies, double below,
                               std::map<TileConfig, plan::Metrics>& found) {
  std::map<graph::tiling::TileShape, double> least;
  for (const auto& [config, metrics] : found) {
    const double score = context_->scale.CostOf(metrics).score;
    const auto at = least.try_emplace(config.tile, score).first;
    at->second = std::min(at->second, score);
  }
  std::erase_if(least, [below](const auto& each) { return each.second < below; });
  std::erase_if(found, [&least](const auto& each) { return least.contains(each.first.tile); });
  for (const auto& [shape, score] : least) expanded_->aside.emplace(Aside{policies, shape}, score);
}

// Finds a choice that fits in little time, for single operators without a known one when a stop
// came. First the shapes that a search begins with; all others only if none of those fits.
void IntervalChoices::ExpandInHaste() {
  expanded_ = std::make_unique<Expanded>(Grid());
  expanded_->formulated = true;
  expanded_->lost_shapes = true;
  if (!FindsOneThatFits(FirstShapes())) FindsOneThatFits(expanded_->shapes.Rest(kFewShapes));
}

// Tries shapes with few tiles first. Among those cut along the same axes, it tries only every one
// with half as many tiles again as the previous one, which reaches small tiles soon.
bool IntervalChoices::FindsOneThatFits(std::vector<graph::tiling::TileShape> tiles) {
  const base::Stop never;
  struct Shape {
    int64_t tiles = 1;
    uint64_t axes = 0;  // that are cut, a bit each
    graph::tiling::TileShape tile;
  };
  std::vector<Shape> shapes;
  const graph::Operator& last = context_->graph.operators[static_cast<size_t>(interval_.last)];
  const graph::Shape& output =
      context_->graph.tensors[static_cast<size_t>(last.outputs.front())].shape;
  for (graph::tiling::TileShape& tile : tiles) {
    Shape& shape = shapes.emplace_back();
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      shape.tiles *= base::CeilDiv(output[axis], tile[axis]);
      if (tile[axis] < output[axis]) shape.axes |= uint64_t{1} << axis;
    }
    shape.tile = std::move(tile);
  }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const Shape& a, const Shape& b) { return a.tiles < b.tiles; });
  std::map<uint64_t, int64_t> tried;  // tiles, by axes
  int64_t looked_at = 0;
  for (const Shape& shape : shapes) {
    int64_t& before = tried[shape.axes];
    if (2 * shape.tiles < 3 * before) continue;
    before = shape.tiles;
    looked_at += shape.tiles;
    if (looked_at > kFewTiles || expanded_->refusal) return false;
    const size_t first = expanded_->choices.size();
    AddShapes({shape.tile}, never);
    expanded_->configs.reset();
    for (size_t i = first; i < expanded_->choices.size(); ++i) {
      Decide(i, never);
      if (expanded_->choices[i].verdict == ChoiceStatus::kFits) return true;
    }
  }
  return false;
}

}  // namespace tessera::search::partition::choices

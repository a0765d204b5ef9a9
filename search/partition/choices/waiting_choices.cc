// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/shape_bounds.h"
#include "tessera/search/partition/choices/interval_choices.h"

// Tile shapes wait with a lower bound until their prices can matter.
//
// Most tile shapes cost more than the best of their interval, and most intervals are never
// formulated. If scores add up, only the choices with the least score can be part of a best path.
// So a shape first gets a lower bound (cost/shape_bounds.h), and waits:
//
//     bounds    |--------|----|------------|-------|      priced in ascending order, until the
//     shape          c     a       d          b           least score found is below all bounds
//     scores             c     a  ^ least                 of those that wait: b and d stay unpriced
//
// A search around the best shapes finds the best one of each subset of the axes in the same way.
// The results, and the choices that no other one dominates, are the same as with all prices. The
// rest is priced when it is formulated (choices_in_turn.cc). The choices are then in the same order
// as without waiting.
//
// A shape whose bound is at least the score below which choices are added is put aside unpriced. It
// is priced when the least score of all shapes put aside is needed and the shape may have it.
namespace tessera::search::partition::choices {

using graph::tiling::TileShape;

namespace {

constexpr int64_t kFollowed = 1 << 10;  // so many tiles are not too many for any policy

// Returns lower bounds for any shape. None if all axes are cut, because the interval's bound may
// hold for its first axes only.
cost::Tie FloorOf(const SearchContext& context, bool has_every_axis, const cost::Cost& bound) {
  return context.first_axes != nullptr && has_every_axis ? cost::Tie{} : bound.tie;
}

}  // namespace

bool IntervalChoices::MayWait() const {
  return (!expanded_->formulated || expanded_->in_turn) && OnlyLeastMatters();
}

// Lower bounds of the scores of shapes under some policies. Equal intervals share them.
class IntervalChoices::ShapeFloors {
 public:
  ShapeFloors(const SearchContext& context, graph::Interval interval, Range policies,
              encoder::program::TilesMade made, bool holds_back, bool has_every_axis,
              const cost::Cost& bound, Expanded& expanded)
      : context_(context),
        interval_(interval),
        policies_(policies),
        floor_(FloorOf(context, has_every_axis, bound)),
        expanded_(expanded) {
    if (context.equal_intervals != nullptr)
      shared_ = context.equal_intervals->PricesOf(interval, Some(), made, holds_back);
  }

  // Returns false if no bound can exceed that of the interval.
  bool AreOfUse() {
    const auto find = [this] { return Bounds().AreOfUse(); };
    return shared_ == nullptr ? find() : shared_->HasBounds(find, context_.stop);
  }

  double Find(const TileShape& shape) {
    const auto find = [&] { return Bounds().Find(shape, floor_, context_.scale); };
    return shared_ == nullptr ? find() : shared_->FindBound(shape, floor_, find, context_.stop);
  }

 private:
  std::span<const encoder::program::Policy> Some() const {
    return std::span(expanded_.policies).subspan(policies_.begin, policies_.end - policies_.begin);
  }

  // Those under all policies last as long as the interval's sums.
  cost::ShapeBounds& Bounds() {
    const bool are_all = policies_ == Range{0, expanded_.policies.size()};
    std::unique_ptr<cost::ShapeBounds>& bounds = are_all ? expanded_.bounds : others_;
    if (bounds != nullptr && (!are_all || expanded_.bounded_policies == expanded_.policies.size()))
      return *bounds;
    if (expanded_.sums == nullptr)
      expanded_.sums = std::make_unique<cost::AxisSums>(context_.graph, context_.profile, interval_,
                                                        &context_.stop);
    bounds = std::make_unique<cost::ShapeBounds>(context_.graph, context_.profile,
                                                 context_.simulator.Usages(), interval_, Some(),
                                                 *expanded_.sums);
    if (are_all) expanded_.bounded_policies = expanded_.policies.size();
    return *bounds;
  }

  const SearchContext& context_;
  graph::Interval interval_;
  Range policies_;
  cost::Tie floor_;
  Expanded& expanded_;
  std::unique_ptr<cost::ShapeBounds> others_;
  std::shared_ptr<SharedPrices> shared_;  // nullptr: none
};

IntervalChoices::ShapeFloors IntervalChoices::FloorsUnder(Range policies) {
  return {*context_,     interval_,       policies, Made(),
          MayHoldBack(), has_every_axis_, bound_,   *expanded_};
}

// Lets the shapes wait. Returns false if they must be priced at once.
bool IntervalChoices::MakeWait(const std::vector<TileShape>& tile_shapes) {
  if (!MayWait()) return false;
  ShapeFloors floors = FloorsUnder(EveryPolicy());
  if (!floors.AreOfUse()) return false;
  LookForLost(tile_shapes, EveryPolicy(), context_->stop);
  const size_t addition = ++expanded_->additions;
  for (const TileShape& shape : tile_shapes) {
    if (context_->stop.Requested()) {
      expanded_->lost_shapes = true;
      break;
    }
    expanded_->waiting.emplace(shape, Waiting{floors.Find(shape), addition});
  }
  return true;
}

void IntervalChoices::PriceWaiting(const TileShape& shape, const base::Stop& stop) {
  const auto waiting = expanded_->waiting.find(shape);
  const size_t addition = waiting->second.addition;
  expanded_->waiting.erase(waiting);
  std::set<TileConfig> held;
  std::map<TileConfig, TilePrice> found = FindPrices({&shape, 1}, EveryPolicy(), stop, held);
  HoldBack(held, found);
  if (expanded_->in_turn) {
    AddPending(found);
  } else {
    AddChoices(found, addition);
  }
}

// Prices the waiting shapes that may be as good as the best. Then sorts the choices.
void IntervalChoices::PriceFront(const base::Stop& stop) {
  if (expanded_->formulated) return;
  const auto least_score = [this] {
    double least = std::numeric_limits<double>::infinity();
    for (const Choice& choice : expanded_->choices) least = std::min(least, choice.cost.score);
    return least;
  };
  while (!expanded_->waiting.empty() && !stop.Requested()) {
    const auto next = std::min_element(
        expanded_->waiting.begin(), expanded_->waiting.end(),
        [](const auto& a, const auto& b) { return a.second.least_score < b.second.least_score; });
    if (cost::IsLess(least_score(), next->second.least_score)) break;
    PriceWaiting(TileShape(next->first), stop);
  }
  if (stop.Requested()) DropWaiting();
  Sort();
  expanded_->bounds.reset();
  expanded_->sums.reset();
}

void IntervalChoices::PriceAll(const base::Stop& stop) {
  if (expanded_->waiting.empty()) return;
  while (!expanded_->waiting.empty() && !stop.Requested())
    PriceWaiting(TileShape(expanded_->waiting.begin()->first), stop);
  if (stop.Requested()) DropWaiting();
  if (!expanded_->formulated) Sort();
}

// Drops the waiting shapes after a stop.
void IntervalChoices::DropWaiting() {
  expanded_->lost_shapes = expanded_->lost_shapes || !expanded_->waiting.empty();
  expanded_->waiting.clear();
}

// Restores the order that choices have if no shape waits.
void IntervalChoices::Sort() {
  std::stable_sort(expanded_->choices.begin(), expanded_->choices.end(),
                   [](const Choice& a, const Choice& b) {
                     if (a.addition != b.addition) return a.addition < b.addition;
                     return a.config < b.config;
                   });
}

void IntervalChoices::LookForLost(std::span<const TileShape> tile_shapes, Range policies,
                                  const base::Stop& stop) {
  if (expanded_->lost_shapes) return;
  const auto some =
      std::span(expanded_->policies).subspan(policies.begin, policies.end - policies.begin);
  const bool keeps = std::any_of(some.begin(), some.end(), [](const auto& policy) {
    return policy.halo != hw_profiles::HaloStorage::kRecompute;
  });
  const graph::Shape& output = encoder::program::OutputShape(context_->graph, interval_);
  const auto is_many = [&output](const TileShape& shape) {
    int64_t tiles = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      tiles = base::SaturatingMul(tiles, base::CeilDiv(output[axis], shape[axis]));
    return tiles > kFollowed;
  };
  if (!keeps || std::none_of(tile_shapes.begin(), tile_shapes.end(), is_many)) return;
  if (policies == EveryPolicy() && expanded_->configs != nullptr) {
    expanded_->lost_shapes = expanded_->configs->LeavesOutAny(tile_shapes);
  } else {
    TileConfigCost configs(*context_, interval_, some, Made(), MayHoldBack(), stop);
    expanded_->lost_shapes = configs.LeavesOutAny(tile_shapes);
  }
}

// Puts aside the shapes whose bound is at least `below`. Returns the others.
std::vector<TileShape> IntervalChoices::PutAsideUnpriced(const std::vector<TileShape>& tile_shapes,
                                                         Range policies, double below) {
  if (below == std::numeric_limits<double>::infinity()) return tile_shapes;
  ShapeFloors floors = FloorsUnder(policies);
  if (!floors.AreOfUse()) return tile_shapes;
  std::vector<TileShape> rest;
  for (const TileShape& shape : tile_shapes) {
    if (context_->stop.Requested()) {
      expanded_->lost_shapes = true;
      break;
    }
    const double least = floors.Find(shape);
    // A shape with an infinite bound has no price under any policy.
    if (least < below || std::isinf(least)) {
      rest.push_back(shape);
    } else {
      expanded_->aside.emplace(Aside{policies, shape}, Least{least, false});
    }
  }
  return rest;
}

// Finds the exact scores of all shapes put aside that may have a score below this one.
void IntervalChoices::PriceAside(double below) {
  std::map<Range, std::vector<TileShape>> open;
  for (const auto& [which, least] : expanded_->aside) {
    if (!least.is_exact && least.score < below) open[which.first].push_back(which.second);
  }
  for (const auto& [policies, shapes] : open) {
    for (const TileShape& shape : shapes) expanded_->aside.erase({policies, shape});
    std::set<TileConfig> held;
    std::map<TileConfig, TilePrice> found = FindPrices(shapes, policies, context_->stop, held);
    PutAside(policies, -std::numeric_limits<double>::infinity(), found);
  }
}

// Finds the least score of the shapes put aside, if UntriedBound depends on it.
void IntervalChoices::PriceLeastAside() {
  while (!LeavesOutShapes() && !LeavesOutPolicies() && !expanded_->aside.empty()) {
    const auto least = std::min_element(
        expanded_->aside.begin(), expanded_->aside.end(),
        [](const auto& a, const auto& b) { return a.second.score < b.second.score; });
    if (least->second.is_exact) return;
    PriceAside(std::nextafter(least->second.score, std::numeric_limits<double>::infinity()));
  }
}

// Returns the number of shapes put aside that have a price; any number above `most` if there are
// more.
size_t IntervalChoices::CountAside(size_t most) {
  size_t fitting = 0;
  for (auto at = expanded_->aside.begin(); at != expanded_->aside.end() && fitting <= most;) {
    const Range policies = at->first.first;
    TileConfigCost configs(
        *context_, interval_,
        std::span(expanded_->policies).subspan(policies.begin, policies.end - policies.begin),
        Made(), MayHoldBack(), context_->stop);
    for (; at != expanded_->aside.end() && at->first.first == policies && fitting <= most; ++at)
      fitting += at->second.is_exact || configs.SurelyHasPrice(at->first.second) ? 1 : 0;
  }
  if (fitting > most) return fitting;
  PriceAside(std::numeric_limits<double>::infinity());
  return expanded_->aside.size();
}

}  // namespace tessera::search::partition::choices

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/limit_relaxation.h"

#include <algorithm>
#include <cmath>
#include <utility>

// Bounds for a search of paths with limits, in which very many labels do not replace each other.
//
// With a price on each limited sum, a path costs its additive score plus, for each limit, the price
// times the share of the limit that it takes, minus the price. A path that keeps the limits costs
// no more than its score. So the cost of the least priced path, which takes one pass over the arcs,
// is a lower bound for all of them (Lagrangian relaxation: Handler and Zang 1980, Dumitrescu and
// Boland 2003):
//
//     score
//      |  x                 x  paths; the best one within the limit is B
//      |    .  B
//      |      '. .   x      the priced score falls along the lines with the slope of the price;
//      |        |  '.       A, the least priced path, lies on the last of them
//      |        |     A
//      +--------|----------- share of the limit
//               1
//
// The prices with the greatest bound come from a master problem (price_master.cc). A least priced
// path that keeps all limits is a solution. The score of the best solution is an upper bound; only
// paths within it are of interest.
//
// A weighted maximum, such as the peak, is no sum. So the paths are divided into groups by the
// greatest weighted maximum of their arcs: paths of a group use no arc with a greater maximum, and
// pay at least the least value of the group. The group with the least bound is halved until it has
// one value. If only one maximum has a weight, its contribution to the bound is then exact.
//
// With the best prices of each group, the least priced paths to the begin and from the end of an
// arc or label give a bound for it. Arcs whose bound exceeds the best solution are left out
// (Beasley and Christofides 1989). On the other arcs, a label whose share of a limit is so low that
// no path from it exceeds the limit is as good as one with a lower share, so more labels replace
// each other.
//
// Cost: at most kFewSteps + kMostSteps passes over the arcs for each group, and kMostGroups groups
// at a time; usually a tenth of that.
namespace tessera::search::partition::paths {
namespace {

constexpr size_t kMostGroups = 32;
constexpr int kFewSteps = 8;     // for a group at first
constexpr int kMostSteps = 100;  // for the group with the least bound

// The share of the best prices in the next ones; the rest are those of the master problem.
constexpr double kSmoothing = 0.5;

// The search for prices ends if the bound can rise by less than this share.
constexpr double kGap = 1e-7;

// The rounding of a priced score, relative to its parts; and of sums of scores, relative to the
// greatest sum of absolute scores, because scores may cancel (ratio_paths.cc).
constexpr double kRounding = 1e-10;
constexpr double kSumRounding = 1e-12;

// The master problem may raise a bound above every score by this share, which shows that the group
// has no path.
constexpr double kBeyond = 1e-3;

// A limit below this is not priced: shares of it could overflow.
constexpr double kLeastLimit = 1e-200;

}  // namespace

LimitRelaxation::LimitRelaxation(const cost::Scale& scale, const ArcLists& arcs,
                                 std::span<const Forbidden> forbidden, PathLook& look)
    : scale_(scale),
      forbidden_(forbidden),
      states_(arcs.LastState() + 1),
      longest_(states_),
      next_(states_) {
  for (size_t i = 0; i < of_one_.size(); ++i) {
    const double limit = scale.SumLimit(i).value_or(0);
    if (limit > kLeastLimit) of_one_[i] = 1 / limit;
  }
  List(arcs);
  if (values_.empty()) return;
  groups_.push_back({.first = 0, .last = values_.size() - 1, .pricing = {}});
  FindPrices(groups_.front(), kFewSteps, look);
  Examine(look);
  Restrict();
  FindLongest();
}

LimitRelaxation::PricedArc LimitRelaxation::Priced(const Arc& arc) const {
  return {&arc,           static_cast<uint32_t>(arc.begin), static_cast<uint32_t>(arc.end),
          arc.cost.score, scale_.ScoreOfMaxima(arc.cost),   SharesOf(arc.cost)};
}

void LimitRelaxation::List(const ArcLists& arcs) {
  const std::span<const ArcLists::Place> places = arcs.All();
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    if (place->arcs == nullptr) continue;
    for (const Arc& arc : place->arcs->All()) {
      if (!scale_.SumsWithinLimits(arc.cost, of_one_.size())) continue;
      arcs_.push_back(Priced(arc));
      values_.push_back(arcs_.back().maximum);
    }
  }
  std::vector<double> greatest(states_);
  std::vector<double> magnitude(states_);
  for (const PricedArc& arc : arcs_) {
    greatest[arc.begin] = std::max(greatest[arc.begin], arc.score + greatest[arc.end]);
    magnitude[arc.begin] = std::max(magnitude[arc.begin], std::abs(arc.score) + magnitude[arc.end]);
  }
  greatest_ = greatest.front();
  magnitude_ = magnitude.front();
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
}

// Raises the least bound until it is exact as far as prices go.
void LimitRelaxation::Examine(PathLook& look) {
  double restricted_to = kInfinity;
  while (!look.IsCutShort()) {
    Group* const least = FindLeast();
    if (least == nullptr) return;
    if (least->is_final) {
      groups_.push_back(TakeLowerHalf(*least));
      FindPrices(groups_.back(), kFewSteps, look);
    } else {
      FindPrices(*least, kMostSteps, look);
      least->is_final = true;
    }
    if (most_ >= restricted_to) continue;
    Restrict();
    restricted_to = most_;
  }
}

// The group with the least bound of those whose bound can rise; nullptr if there is none.
LimitRelaxation::Group* LimitRelaxation::FindLeast() {
  Group* least = nullptr;
  for (Group& group : groups_) {
    const bool is_divisible = group.first < group.last && groups_.size() < kMostGroups;
    if ((group.is_final && !is_divisible) || !IsOfInterest(group)) continue;
    if (least == nullptr || BoundOf(group) < BoundOf(*least)) least = &group;
  }
  return least;
}

// Removes the lower half of the group and returns it. Its search begins with the prices of the
// whole group; the upper half uses the same arcs as the whole.
LimitRelaxation::Group LimitRelaxation::TakeLowerHalf(Group& group) {
  const size_t middle = group.first + (group.last - group.first) / 2;
  Group lower{.first = group.first, .last = middle, .pricing = {}};
  lower.pricing.prices = group.pricing.prices;
  group.first = middle + 1;
  return lower;
}

// Drops groups and arcs that no path of interest uses.
void LimitRelaxation::Restrict() {
  std::erase_if(groups_, [this](const Group& group) { return !IsOfInterest(group); });
  least_maximum_ = kInfinity;
  for (Group& group : groups_) {
    FindDistances(group);
    least_maximum_ = std::min(least_maximum_, values_[group.first]);
  }
  std::erase_if(arcs_, [this](const PricedArc& arc) { return !MayUse(arc); });
}

// Finds prices with a greater bound. Prices halfway between those of the master problem and the
// best ones converge faster than those of the master problem alone, which oscillate (Wentges 1997).
void LimitRelaxation::FindPrices(Group& group, int most_steps, PathLook& look) {
  const double most = values_[group.last];
  Pricing& best = group.pricing;
  best = Price(Shares(best.prices), most);
  if (best.bound == kInfinity) return;
  const double greatest = std::min(greatest_, most_ - values_[group.first]);
  PriceMaster master(greatest + kBeyond * std::abs(greatest));
  master.Add(best.score, ExcessOf(best.shares));
  for (int step = 0; step < most_steps && IsOfInterest(group); ++step) {
    look.joins += static_cast<int64_t>(arcs_.size()) / PathLook::kComparisonsForOne;
    master.Solve();
    if (look.IsCutShort() || master.Value() - best.bound <= kGap * std::abs(best.bound)) return;
    Shares prices = master.Prices();
    for (size_t i = 0; i < prices.size(); ++i)
      prices[i] = std::max(0.0, prices[i] + kSmoothing * (best.prices[i] - prices[i]));
    Pricing last = Price(prices, most);
    master.Add(last.score, ExcessOf(last.shares));
    if (last.bound > best.bound) best = std::move(last);
  }
}

LimitRelaxation::Pricing LimitRelaxation::Price(const Shares& prices, double most) {
  Pricing pricing;
  pricing.prices = prices;
  pricing.from.assign(states_, kInfinity);
  pricing.from.back() = 0;
  std::fill(next_.begin(), next_.end(), nullptr);
  for (const PricedArc& arc : arcs_) {
    if (arc.maximum > most) continue;
    const double through = arc.score + PriceOf(arc.shares, prices) + pricing.from[arc.end];
    if (through >= pricing.from[arc.begin]) continue;
    pricing.from[arc.begin] = through;
    next_[arc.begin] = &arc;
  }
  pricing.bound = BoundOf(pricing.from.front(), prices);
  if (next_.front() == nullptr) return pricing;
  std::vector<const PricedArc*> path;
  for (size_t state = 0; state + 1 < states_; state = next_[state]->end)
    path.push_back(next_[state]);
  for (const PricedArc* arc : path) {
    pricing.score += arc->score;
    for (size_t i = 0; i < prices.size(); ++i) pricing.shares[i] += arc->shares[i];
  }
  Offer(path);
  return pricing;
}

void LimitRelaxation::Offer(std::span<const PricedArc* const> path) {
  cost::Cost cost;
  for (const PricedArc* arc : path) cost = cost::Join(cost, arc->arc->cost);
  const double score = scale_.ScoreOf(cost);
  if (!(score < most_) || !scale_.WithinLimits(cost)) return;
  const auto is_path = [&](const Forbidden& forbidden) {
    return std::equal(
        forbidden.begin(), forbidden.end(), path.begin(), path.end(),
        [](const Arc& arc, const PricedArc* own) { return IsForbiddenBy(arc, *own->arc); });
  };
  if (std::any_of(forbidden_.begin(), forbidden_.end(), is_path)) return;
  most_ = score;
  solution_.clear();
  for (const PricedArc* arc : path) solution_.push_back(arc->arc);
}

double LimitRelaxation::Most() const { return most_ + kSumRounding * magnitude_; }

std::optional<Path> LimitRelaxation::Solution() const {
  if (solution_.empty()) return std::nullopt;
  Path path;
  for (const Arc* arc : solution_) {
    path.arcs.push_back(*arc);
    path.cost = cost::Join(path.cost, arc->cost);
  }
  return path;
}

void LimitRelaxation::FindDistances(Group& group) const {
  Pricing& pricing = group.pricing;
  pricing.to.assign(states_, kInfinity);
  pricing.to.front() = 0;
  for (auto arc = arcs_.rbegin(); arc != arcs_.rend(); ++arc) {
    if (arc->maximum > values_[group.last]) continue;
    pricing.to[arc->end] = std::min(pricing.to[arc->end], pricing.to[arc->begin] + arc->score +
                                                              PriceOf(arc->shares, pricing.prices));
  }
}

void LimitRelaxation::FindLongest() {
  for (const PricedArc& arc : arcs_) {
    Shares& begin = longest_[arc.begin];
    const Shares& end = longest_[arc.end];
    for (size_t i = 0; i < begin.size(); ++i) begin[i] = std::max(begin[i], arc.shares[i] + end[i]);
  }
}

LimitRelaxation::Shares LimitRelaxation::SharesOf(const cost::Cost& cost) const {
  Shares shares;
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = cost.sums[i] * of_one_[i];
  return shares;
}

// Returns the shares above the limits; 0 for metrics without a limit.
LimitRelaxation::Shares LimitRelaxation::ExcessOf(const Shares& shares) const {
  Shares excess = {};
  for (size_t i = 0; i < shares.size(); ++i) {
    if (of_one_[i] > 0) excess[i] = shares[i] - 1;
  }
  return excess;
}

double LimitRelaxation::PriceOf(const Shares& shares, const Shares& prices) {
  double price = 0;
  for (size_t i = 0; i < shares.size(); ++i) price += prices[i] * shares[i];
  return price;
}

// Returns a lower bound of the additive score of a path with this priced score.
double LimitRelaxation::BoundOf(double priced, const Shares& prices) const {
  if (priced == kInfinity) return kInfinity;
  double paid = 0;
  for (const double price : prices) paid += price;
  return priced - paid - kRounding * (std::abs(priced) + paid) - kSumRounding * magnitude_;
}

bool LimitRelaxation::IsOfInterest(const Group& group) const {
  return group.pricing.bound <= greatest_ && !cost::IsLess(most_, BoundOf(group));
}

// Returns a lower bound of the score of a path in the group. `priced` is its least priced score,
// `maxima` a lower bound of its score of maxima, and `of_an_arc` one of that of some arc of it.
double LimitRelaxation::LeastOf(const Group& group, double priced, double maxima,
                                double of_an_arc) const {
  if (cost::IsLess(values_[group.last], of_an_arc)) return kInfinity;
  return BoundOf(priced, group.pricing.prices) + std::max(maxima, values_[group.first]);
}

bool LimitRelaxation::MayUse(const PricedArc& arc) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    const Pricing& pricing = group.pricing;
    const double least = LeastOf(group,
                                 pricing.to[arc.begin] + arc.score +
                                     PriceOf(arc.shares, pricing.prices) + pricing.from[arc.end],
                                 arc.maximum, arc.maximum);
    return least < kInfinity && !cost::IsLess(most_, least);
  });
}

double LimitRelaxation::LeastScore(size_t state, const cost::Cost& cost) const {
  const double maxima = scale_.ScoreOfMaxima(cost);
  const double of_an_arc = scale_.GreatestOfMaxima(cost);
  const Shares shares = SharesOf(cost);
  double least = kInfinity;
  for (const Group& group : groups_) {
    const double priced =
        cost.score + PriceOf(shares, group.pricing.prices) + group.pricing.from[state];
    least = std::min(least, LeastOf(group, priced, maxima, of_an_arc));
  }
  return least;
}

void LimitRelaxation::RaiseToLeast(size_t state, cost::Cost& cost) const {
  for (size_t i = 0; i < of_one_.size(); ++i) {
    if (of_one_[i] > 0)
      cost.sums[i] = std::max(cost.sums[i], (1 - longest_[state][i]) / of_one_[i]);
  }
  scale_.RaiseMaxima(least_maximum_, cost);
}

}  // namespace tessera::search::partition::paths

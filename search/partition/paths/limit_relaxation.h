// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/paths/label_search.h"
#include "tessera/search/partition/paths/price_master.h"

namespace tessera::search::partition::paths {

// Lower bounds of the scores of paths that keep limits (limit_relaxation.cc).
class LimitRelaxation {
 public:
  // Finds prices, until the look is cut short; then the bounds are valid, but lower. All arguments
  // must outlive the object.
  LimitRelaxation(const cost::Scale& scale, const ArcLists& arcs,
                  std::span<const Forbidden> forbidden, PathLook& look);

  // No path of interest has a greater score: that of the best path found that keeps the limits and
  // is not forbidden, and what rounding may add to an equal one; infinity if none was found.
  double Most() const;

  // This path, if one was found.
  std::optional<Path> Solution() const;

  // Whether a path of interest may use this arc.
  bool MayUse(const Arc& arc) const { return MayUse(Priced(arc)); }

  // A lower bound of the score of each path to the last state that keeps the limits and begins with
  // a path of this cost to this state.
  double LeastScore(size_t state, const cost::Cost& cost) const;

  // Raises each limited sum to the greatest value with which every path from this state keeps the
  // limit, and each maximum to the least of any path of interest. This changes no result, and more
  // costs dominate each other.
  void RaiseToLeast(size_t state, cost::Cost& cost) const;

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  using Shares = LimitShares;  // the part of its limit that each metric takes; 0 without a limit

  struct PricedArc {
    const Arc* arc = nullptr;
    uint32_t begin = 0;
    uint32_t end = 0;
    double score = 0;    // the additive part
    double maximum = 0;  // Scale::ScoreOfMaxima
    Shares shares = {};
  };

  // What the paths cost with these prices of shares.
  struct Pricing {
    Shares prices = {};
    double bound = -kInfinity;  // of the additive score of a path that keeps the limits
    double score = 0;           // the additive score of the least priced path, and its shares
    Shares shares = {};
    std::vector<double> from;  // the least priced score from each state
    std::vector<double> to;    // and to it
  };

  // The paths whose greatest PricedArc::maximum is one of these values.
  struct Group {
    size_t first = 0;  // of values_
    size_t last = 0;
    Pricing pricing;
    bool is_final = false;  // these prices are the best
  };

  void List(const ArcLists& arcs);
  void Examine(PathLook& look);
  Group* FindLeast();
  static Group TakeLowerHalf(Group& group);
  void Restrict();
  void FindPrices(Group& group, int most_steps, PathLook& look);
  Pricing Price(const Shares& prices, double most);
  void Offer(std::span<const PricedArc* const> path);
  void FindDistances(Group& group) const;
  void FindLongest();

  PricedArc Priced(const Arc& arc) const;
  Shares SharesOf(const cost::Cost& cost) const;
  Shares ExcessOf(const Shares& shares) const;
  static double PriceOf(const Shares& shares, const Shares& prices);
  double BoundOf(double priced, const Shares& prices) const;
  double BoundOf(const Group& group) const { return values_[group.first] + group.pricing.bound; }
  bool IsOfInterest(const Group& group) const;
  double LeastOf(const Group& group, double priced, double maxima, double of_an_arc) const;
  bool MayUse(const PricedArc& arc) const;

  const cost::Scale& scale_;
  std::span<const Forbidden> forbidden_;
  size_t states_;
  Shares of_one_ = {};           // the share of one unit of each metric
  std::vector<PricedArc> arcs_;  // the last begin first
  std::vector<double> values_;   // of their maxima, in ascending order
  std::vector<Group> groups_;    // of interest
  std::vector<Shares> longest_;  // by state: the greatest share of any path from there
  double least_maximum_ = 0;     // of the groups
  double greatest_ = 0;          // additive score of a path, at most
  double magnitude_ = 0;         // the same of the absolute scores of its arcs
  double most_ = kInfinity;
  std::vector<const Arc*> solution_;
  std::vector<const PricedArc*> next_;  // of the least priced path from each state
};

}  // namespace tessera::search::partition::paths

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

namespace tessera::search::partition::paths {

// By position in plan::kSummedMetrics, relative to the limits.
using LimitShares = std::array<double, plan::kSummedMetrics.size()>;

// Finds the prices of limits that maximise the cost of the least priced of some paths
// (price_master.cc).
class PriceMaster {
 public:
  // The value is at most `greatest`.
  explicit PriceMaster(double greatest);

  // Adds a path with this score, whose metrics exceed their limits by these shares.
  void Add(double score, const LimitShares& excess);

  // Adapts the prices to all paths added so far.
  void Solve();

  const LimitShares& Prices() const { return prices_; }
  double Value() const { return value_; }  // the cost of the least priced path

 private:
  static constexpr size_t kRows = plan::kSummedMetrics.size() + 1;
  using Column = std::array<double, kRows>;

  struct Member {
    double cost = 0;
    Column column = {};
  };

  void Enter(const Member& member);
  void ReadPrices();

  double tolerance_;  // of scores
  std::vector<Member> paths_;
  std::array<Member, kRows> basis_ = {};
  std::array<Column, kRows> inverse_ = {};  // of the columns of the basis
  Column amounts_ = {};                     // of the members of the basis
  LimitShares prices_ = {};
  double value_ = 0;
};

// Lower bounds of the scores of paths that keep limits (limit_relaxation.cc).
class LimitRelaxation {
 public:
  // Finds prices. If `look` is cut short, the bounds are valid, but lower. All arguments must
  // outlive the object.
  LimitRelaxation(const cost::Scale& scale, const ArcLists& arcs,
                  std::span<const Forbidden> forbidden, PathLook& look);

  // Returns an upper bound of the score of paths of interest, that is of paths at least as good as
  // Solution(): its score and what rounding may add to an equal one; infinity if none was found.
  double Most() const;

  // Returns the best path found that keeps the limits and is not forbidden, if any.
  std::optional<Path> Solution() const;

  // Whether a path of interest may use this arc.
  bool MayUse(const Arc& arc) const { return MayUse(Priced(arc)); }

  // Returns a lower bound of the score of each path to the last state that keeps the limits and
  // begins with a path of this cost to this state.
  double LeastScore(size_t state, const cost::Cost& cost) const;

  // Raises each limited sum to the greatest value with which every path from this state keeps the
  // limit, and each maximum to the least of any path of interest. This changes no result, but more
  // labels dominate each other.
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

  // The costs of paths with these prices of shares.
  struct Pricing {
    Shares prices = {};
    double bound = -kInfinity;  // of the additive score of a path that keeps the limits
    double score = 0;           // the additive score of the least priced path
    Shares shares = {};         // of the least priced path
    std::vector<double> from;   // by state: the least priced score from it to the last
    std::vector<double> to;     // by state: the least priced score from the first to it
  };

  // The paths whose greatest PricedArc::maximum is one of values_[first] to values_[last].
  struct Group {
    size_t first = 0;
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
  std::vector<double> values_;   // the distinct maxima of the arcs, ascending
  std::vector<Group> groups_;    // those of interest
  std::vector<Shares> longest_;  // by state: the greatest share of any path from there
  double least_maximum_ = 0;     // of the groups
  double greatest_ = 0;          // the greatest additive score of a path, at most
  double magnitude_ = 0;         // the same with the absolute scores of arcs
  double most_ = kInfinity;
  std::vector<const Arc*> solution_;
  std::vector<const PricedArc*> next_;  // by state: the first arc of the least priced path from it
};

}  // namespace tessera::search::partition::paths

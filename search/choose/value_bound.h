// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/choose/items.h"

namespace tessera::search::choose {

// An upper bound of the value of every choice that fits, by prices of bytes.
//
// Let the bytes of each section have a price p >= 0. An item costs its bytes times the prices of
// the sections that it lives through. Then every choice that fits has at most the value
//
//     sum over sections of p * capacity  +  sum over items of max(0, value - cost)
//
// (without the max for items that must be placed). The second sum is at least the value of a choice
// minus its costs, and the first is at least its costs, because no section is overfull. The least
// bound over all prices is that of the linear relaxation, in which parts of items may be chosen
// (Lagrangian duality). A subgradient method comes close to it: the price of a section rises if the
// items that are worth their costs overfill it, and falls if they leave bytes of it free.
//
// The search for prices uses floating point. The prices are then rounded to integers, and the bound
// is computed exactly from these. So rounding may weaken the bound, but never breaks it.
class Prices {
 public:
  // RoundsFor returns the rounds after which further ones gain little: fewer for many items, so
  // that the work is about the same; at least kLeastRounds.
  static constexpr int kLeastRounds = 200;
  static int RoundsFor(const Items& items);

  // Calls Improve with this number of rounds. `items` must outlive this object.
  Prices(const Items& items, int rounds, const base::Stop& stop);

  // Continues the search where the last call ended: several calls find the same prices as one call
  // with the sum of their rounds. The bound never rises. Cost: `rounds` times (items + sections). A
  // stop ends the search early; the bound holds.
  void Improve(int rounds, const base::Stop& stop);

  int64_t Bound() const { return bound_; }

  // Surplus returns the value of an item less its cost at the rounded prices, in units of
  // 1 / kScale. It is positive if the item is worth more than it costs.
  __extension__ typedef __int128 Scaled;
  static constexpr int64_t kScale = int64_t{1} << 40;
  Scaled Surplus(size_t item) const { return surplus_[item]; }

  // Returns the cost of one byte in sections [first, last), in the same units.
  Scaled PriceOf(int first, int last) const {
    return before_[static_cast<size_t>(last)] - before_[static_cast<size_t>(first)];
  }

  // Returns the part of the first sum for the sections from this one on.
  Scaled CapacityFrom(int section) const { return capacity_from_[static_cast<size_t>(section)]; }

  // Returns the value per cost; infinite for items that cost nothing.
  double Attraction(size_t item) const { return attraction_[item]; }
  // Returns the optional items, the most attractive first.
  std::vector<int> OptionalByAttraction() const;

 private:
  // The state of the subgradient method between two rounds.
  struct Search {
    std::vector<double> price;      // by section, of the next round
    std::vector<double> direction;  // by section, smoothed
    double best = 0;                // the least bound found, in floating point
    double share = 0;               // the step, as a share of the distance to the target
    int failures = 0;               // rounds without a better bound
    bool is_over = false;
  };

  void Settle();

  const Items* items_;
  Search search_;
  std::vector<double> price_;          // by section: the best found
  std::vector<Scaled> before_;         // prefix sums of the rounded prices
  std::vector<Scaled> capacity_from_;  // suffix sums of price times capacity
  std::vector<Scaled> surplus_;
  std::vector<double> attraction_;
  int64_t bound_ = std::numeric_limits<int64_t>::max();
};

}  // namespace tessera::search::choose

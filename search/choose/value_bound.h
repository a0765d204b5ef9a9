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
// Give the bytes of each section a price p >= 0. An item costs its bytes times the prices of the
// sections that it lives through. Then every choice that fits has at most the value
//
//     sum over sections of p * capacity  +  sum over items of max(0, value - cost)
//
// (for items that must be placed without the max): what a choice earns beyond its costs is in the
// second sum, and its costs are at most the first, as no section is overfull. The least bound over
// all prices is that of the linear relaxation, in which parts of items may be chosen (Lagrangian
// duality); a subgradient method comes close to it: prices rise where the items that are worth
// their costs overfill a section, and fall where they leave it empty.
//
// Prices are searched for in floating point and then rounded to integers, with which the bound is
// computed exactly. So rounding weakens the bound at most, and never breaks it.
class Prices {
 public:
  // The rounds after which more gain little: fewer of many items, for about the same work.
  static constexpr int kLeastRounds = 200;
  static int RoundsFor(const Items& items);

  // As after Improve with so many rounds. `items` must outlive this object.
  Prices(const Items& items, int rounds, const base::Stop& stop);

  // Searches on where the last search ended: several calls find the prices of one call with the sum
  // of their rounds. The bound never rises. Cost: `rounds` times (items + sections). A stop ends
  // the search early; the bound holds.
  void Improve(int rounds, const base::Stop& stop);

  int64_t Bound() const { return bound_; }

  // Value less cost, in units of 1 / kScale of value, rounded up. Of an item that is certain to be
  // worth its price this is positive.
  __extension__ typedef __int128 Scaled;
  static constexpr int64_t kScale = int64_t{1} << 40;
  Scaled Surplus(size_t item) const { return surplus_[item]; }

  // Cost of one byte in sections [first, last), in the same units.
  Scaled PriceOf(int first, int last) const {
    return before_[static_cast<size_t>(last)] - before_[static_cast<size_t>(first)];
  }

  // The first sum for the sections from this one on.
  Scaled CapacityFrom(int section) const { return capacity_from_[static_cast<size_t>(section)]; }

  // Value per cost; infinite for items that cost nothing.
  double Attraction(size_t item) const { return attraction_[item]; }
  // Optional items, the most attractive first.
  std::vector<int> OptionalByAttraction() const;

 private:
  // Of the subgradient method, between two rounds.
  struct Search {
    std::vector<double> price;      // by section, of the next round
    std::vector<double> direction;  // by section, smoothed
    double best = 0;                // bound found, in floating point
    double share = 0;               // of the distance to the target, that a step takes
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

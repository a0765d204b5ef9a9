// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tessera/plan/plan.h"

namespace tessera::search::partition::paths {

// By position in plan::kSummedMetrics, relative to the limits.
using LimitShares = std::array<double, plan::kSummedMetrics.size()>;

// The prices of limits for which the least priced of some paths costs most (price_master.cc).
class PriceMaster {
 public:
  // No prices make the value greater than `greatest`.
  explicit PriceMaster(double greatest);

  // A path with this score, whose metrics exceed their limits by these shares.
  void Add(double score, const LimitShares& excess);

  // Adapts the prices to all paths so far.
  void Solve();

  const LimitShares& Prices() const { return prices_; }
  double Value() const { return value_; }  // the least priced score, minus the prices

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

}  // namespace tessera::search::partition::paths

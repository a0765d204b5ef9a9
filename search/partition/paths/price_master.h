// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tessera/plan/plan.h"

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

}  // namespace tessera::search::partition::paths

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <optional>

#include "tessera/search/partition/paths/limit_relaxation.h"

// The master problem of a column generation (Dantzig and Wolfe 1960): the cheapest mixture of paths
// that keeps the limits on average,
//
//     minimise  sum w_p * score_p
//     so that   sum w_p * excess_pi + slack_i = 0    for each limit i
//               sum w_p = 1,  w >= 0, slack >= 0
//
// The negated dual values of the limits are the prices that maximise the cost of the least priced
// path so far. One further member with the score `greatest` and without excess makes the problem
// feasible from the start; if it remains in the mixture, no mixture of paths keeps the limits.
//
// The method is revised simplex with the inverse of the basis, which has one row for each limit and
// one more. The first member that improves the mixture enters, and the first that may leave leaves
// (after Bland 1977); kMostPivots ends it in any case. Cost: a few steps for each new path, each
// with one product for each path.
namespace tessera::search::partition::paths {
namespace {

constexpr size_t kLimits = plan::kSummedMetrics.size();
constexpr double kTolerance = 1e-9;
constexpr int kMostPivots = 200;

}  // namespace

PriceMaster::PriceMaster(double greatest) : tolerance_(kTolerance * std::abs(greatest)) {
  for (size_t i = 0; i < kLimits; ++i) basis_[i].column[i] = 1;
  basis_[kLimits] = {greatest, {}};
  basis_[kLimits].column[kLimits] = 1;
  for (size_t i = 0; i < kRows; ++i) inverse_[i][i] = 1;
  amounts_[kLimits] = 1;
  ReadPrices();
}

void PriceMaster::Add(double score, const LimitShares& excess) {
  Member path{score, {}};
  std::copy(excess.begin(), excess.end(), path.column.begin());
  path.column[kLimits] = 1;
  paths_.push_back(path);
}

void PriceMaster::Solve() {
  for (int step = 0; step < kMostPivots; ++step) {
    const Member* entering = nullptr;
    Member slack;
    for (size_t i = 0; i < kLimits && entering == nullptr; ++i) {
      if (prices_[i] >= -tolerance_) continue;
      slack.column[i] = 1;
      entering = &slack;
    }
    for (const Member& path : paths_) {
      if (entering != nullptr) break;
      double gain = value_ - path.cost;
      for (size_t i = 0; i < kLimits; ++i) gain -= prices_[i] * path.column[i];
      if (gain > tolerance_) entering = &path;
    }
    if (entering == nullptr) return;
    Enter(*entering);
  }
}

void PriceMaster::Enter(const Member& member) {
  Column change = {};
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t i = 0; i < kRows; ++i) change[row] += inverse_[row][i] * member.column[i];
  }
  std::optional<size_t> leaving;
  for (size_t row = 0; row < kRows; ++row) {
    if (change[row] <= kTolerance) continue;
    if (!leaving || amounts_[row] / change[row] < amounts_[*leaving] / change[*leaving])
      leaving = row;
  }
  if (!leaving) return;
  const double amount = amounts_[*leaving] / change[*leaving];
  for (size_t i = 0; i < kRows; ++i) inverse_[*leaving][i] /= change[*leaving];
  for (size_t row = 0; row < kRows; ++row) {
    if (row == *leaving) continue;
    for (size_t i = 0; i < kRows; ++i) inverse_[row][i] -= change[row] * inverse_[*leaving][i];
    amounts_[row] -= change[row] * amount;
  }
  amounts_[*leaving] = amount;
  basis_[*leaving] = member;
  ReadPrices();
}

void PriceMaster::ReadPrices() {
  Column duals = {};
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t i = 0; i < kRows; ++i) duals[i] += basis_[row].cost * inverse_[row][i];
  }
  for (size_t i = 0; i < kLimits; ++i) prices_[i] = -duals[i];
  value_ = duals[kLimits];
}

}  // namespace tessera::search::partition::paths

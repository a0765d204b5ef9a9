// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <cstdint>

#include "tessera/base/arithmetic.h"

// Sums and products of costs that saturate at base::kMaxTotal. A saturated candidate is unusable,
// but it can still be compared.
namespace tessera::base {

inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  return base::CheckedAdd(a, b).value_or(kMaxTotal);
}

inline int64_t SaturatingMul(int64_t a, int64_t b) {
  return base::CheckedMul(a, b).value_or(kMaxTotal);
}

inline void Accumulate(int64_t& total, int64_t part) { total = SaturatingAdd(total, part); }

// Rounds up: a started cycle counts as a whole cycle.
inline int64_t WholeCycles(double cycles) {
  return cycles >= static_cast<double>(kMaxTotal) ? kMaxTotal
                                                  : static_cast<int64_t>(std::ceil(cycles));
}

// As WholeCycles, for lower bounds: if the parts together take at least `cycles`, the result is at
// most the sum of their WholeCycles. The plain ceiling of doubles is unsound: 50 * 1.1 is
// 55.000000000000007, and five times 10 * 1.1 is 55.
//
// Both sides are computed from few products, quotients and sums of doubles, each of which rounds by
// at most 2^-53 of its value. So the parts truly take more than cycles * (1 - 2^-44), and as a sum
// of whole cycles at least the next whole number. If rates are binary fractions, `cycles` is an
// exact multiple of some 2^-k, and the result is that of WholeCycles below 2^(43 - k) cycles.
inline int64_t LeastWholeCycles(double cycles) { return WholeCycles(cycles * (1 - 0x1p-44)); }

}  // namespace tessera::base

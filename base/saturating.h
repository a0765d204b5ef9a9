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

}  // namespace tessera::base

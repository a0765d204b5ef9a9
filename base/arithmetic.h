// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

// Integer arithmetic on sizes and totals in signed 64 bits. CheckedAdd and CheckedMul detect
// overflow and refuse results beyond kMaxTotal, which is half of the limit of the type. The other
// functions rely on the bounds of their arguments.
namespace tessera::base {

inline constexpr int64_t kMaxTotal = int64_t{1} << 62;

// Return nullopt if the result is outside [-kMaxTotal, kMaxTotal].
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > kMaxTotal || sum < -kMaxTotal)
    return std::nullopt;
  return sum;
}

inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaxTotal || product < -kMaxTotal)
    return std::nullopt;
  return product;
}

// Floor and ceiling of a / b for b > 0 and any sign of a.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// The least multiple of `step` >= a, and the greatest <= a; step > 0. The caller must bound a by
// kMaxTotal.
constexpr int64_t RoundUp(int64_t a, int64_t step) { return CeilDiv(a, step) * step; }
constexpr int64_t RoundDown(int64_t a, int64_t step) { return FloorDiv(a, step) * step; }

// The n-th term (n >= 1) of the Luby sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... Used as run
// lengths, it is within a logarithmic factor of the best schedule for any search with unknown run
// times (Luby, Sinclair and Zuckerman 1993). Cost: O(log n).
constexpr int64_t Luby(int64_t n) {
  while (true) {
    int64_t period = 1;  // the least 2^k - 1 that is at least n
    while (period < n) period = 2 * period + 1;
    if (period == n) return (period + 1) / 2;
    n -= period / 2;
  }
}

// Sums and products of costs that saturate at base::kMaxTotal. A saturated candidate is unusable,
// but it can still be compared.

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

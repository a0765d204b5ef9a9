// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/interval.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::explore {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 0 times infinity is 0: the infinite end is a number without a limit, not a value.
double Times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

template <typename Operate>
Interval HullOf(const Interval& a, const Interval& b, Operate operate) {
  const std::array<double, 4> ends = {operate(a.low, b.low), operate(a.low, b.high),
                                      operate(a.high, b.low), operate(a.high, b.high)};
  if (std::any_of(ends.begin(), ends.end(), [](double end) { return std::isnan(end); }))
    return {-kInfinity, kInfinity};
  return {*std::min_element(ends.begin(), ends.end()), *std::max_element(ends.begin(), ends.end())};
}

Interval Truth(bool surely, bool possibly) { return {surely ? 1.0 : 0.0, possibly ? 1.0 : 0.0}; }

bool IsSurely(const Interval& a) { return a.low > 0 || a.high < 0; }
bool IsPossibly(const Interval& a) { return a.low != 0 || a.high != 0; }

Interval Divide(const Interval& a, const Interval& b) {
  if (b.low <= 0 && b.high >= 0) {
    // The quotient has a bound only if 0 is the lower end of the divisor and the dividend is not
    // negative.
    if (b.low == 0 && b.high > 0 && a.low >= 0)
      return {std::isinf(b.high) ? 0 : a.low / b.high, kInfinity};
    return {-kInfinity, kInfinity};
  }
  return HullOf(a, b, [](double x, double y) { return std::isinf(y) ? 0 : x / y; });
}

Interval Raise(const Interval& a, const Interval& b) {
  if (a.low < 0 && !(a.IsPoint() && b.IsPoint())) return {-kInfinity, kInfinity};
  return HullOf(a, b, [](double x, double y) { return std::pow(x, y); });
}

template <typename Apply>
Interval Monotone(const Interval& a, Apply apply) {
  // Replaces a NaN at one end, if the other end is a number.
  return {std::fmax(apply(a.low), -kInfinity), std::fmin(apply(a.high), kInfinity)};
}

}  // namespace

Interval Combine(Operation operation, const Interval& a, const Interval& b) {
  switch (operation) {
    case Operation::kOr:
      return Truth(IsSurely(a) || IsSurely(b), IsPossibly(a) || IsPossibly(b));
    case Operation::kAnd:
      return Truth(IsSurely(a) && IsSurely(b), IsPossibly(a) && IsPossibly(b));
    case Operation::kLess:
      return Truth(a.high < b.low, a.low < b.high);
    case Operation::kLessOrEqual:
      return Truth(a.high <= b.low, a.low <= b.high);
    case Operation::kEqual:
      return Truth(a.IsPoint() && b.IsPoint() && a.low == b.low,
                   a.low <= b.high && b.low <= a.high);
    case Operation::kNotEqual:
      return Truth(a.high < b.low || b.high < a.low,
                   !(a.IsPoint() && b.IsPoint() && a.low == b.low));
    case Operation::kAdd:
      return {a.low + b.low, a.high + b.high};
    case Operation::kSubtract:
      return {a.low - b.high, a.high - b.low};
    case Operation::kMultiply:
      return HullOf(a, b, Times);
    case Operation::kDivide:
      return Divide(a, b);
    case Operation::kPower:
      return Raise(a, b);
    case Operation::kMinimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Operation::kMaximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return a;
  }
}

Interval Apply(Operation operation, const Interval& a) {
  switch (operation) {
    case Operation::kNot:
      return Truth(!IsPossibly(a), !IsSurely(a));
    case Operation::kNegate:
      return {-a.high, -a.low};
    case Operation::kCeil:
      return Monotone(a, [](double x) { return std::ceil(x); });
    case Operation::kFloor:
      return Monotone(a, [](double x) { return std::floor(x); });
    case Operation::kLog2:
      return Monotone(a, [](double x) { return std::log2(x); });
    case Operation::kSqrt:
      return Monotone(a, [](double x) { return std::sqrt(x); });
    default:
      return a;
  }
}

}  // namespace tessera::explore

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>

// Interval arithmetic (Moore, "Interval Analysis", 1966): each operation gives the hull of its
// results. All operations are monotone in each argument on either side of 0, so the hull is that of
// the results at the ends.
//
//     [2, 3] * [-1, 4]  =  hull of -2, 8, -3, 12  =  [-3, 12]
namespace tessera::explore {

// The numbers between `low` and `high`, both included; either may be infinite.
struct Interval {
  double low = 0;
  double high = 0;

  static Interval Of(double value) { return {value, value}; }
  static Interval From(double low) { return {low, std::numeric_limits<double>::infinity()}; }
  bool IsPoint() const { return low == high; }
};

enum class Operation : uint8_t {
  kNumber,
  kName,
  kOr,
  kAnd,
  kNot,
  kLess,
  kLessOrEqual,
  kEqual,
  kNotEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kNegate,
  kMinimum,
  kMaximum,
  kCeil,
  kFloor,
  kLog2,
  kSqrt
};

// Return the results of an operation with two arguments, and with one. An operation with another
// number of arguments returns its first argument unchanged.
Interval Combine(Operation operation, const Interval& a, const Interval& b);
Interval Apply(Operation operation, const Interval& a);

}  // namespace tessera::explore

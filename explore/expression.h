// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"

// Interval arithmetic (Moore, "Interval Analysis", 1966): each operation gives the hull of its
// results. All operations are monotone in each argument on either side of 0, so the hull is that of
// the results at the ends.
//
//     [2, 3] * [-1, 4]  =  hull of -2, 8, -3, 12  =  [-3, 12]
namespace tessera::explore {

// The numbers between `low` and `high`, both included; either may be infinite.
struct NumberInterval {
  double low = 0;
  double high = 0;

  static NumberInterval Of(double value) { return {value, value}; }
  static NumberInterval From(double low) { return {low, std::numeric_limits<double>::infinity()}; }
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
NumberInterval Combine(Operation operation, const NumberInterval& a, const NumberInterval& b);
NumberInterval Apply(Operation operation, const NumberInterval& a);

// Arithmetic over named numbers: scores, areas, conditions on points of a space.
//
//     "power * area / accuracy"      "lanes <= 16 or memories.sram.capacity_bytes >= 128Ki"
//
// Precedence from the lowest: or, and, not, comparisons (< <= > >= == !=), + -, * /, unary -, ^.
// Functions: min, max (any number of arguments), ceil, floor, log2, sqrt. Truth is 1 and 0. Numbers
// may have the suffixes Ki, Mi, Gi and Ti. Names are words with dots, and may contain `*`.

// Returns the value of a name; nullopt if there is none.
using Names = std::function<std::optional<NumberInterval>(std::string_view name)>;

// A parsed expression. Immutable; copies share the content.
class Expression {
 public:
  // A diagnostic has the column in `text`, from 1, and no file or line.
  static base::Expected<Expression> Parse(std::string_view text);

  const std::string& Text() const { return text_; }

  // Returns the names in the expression.
  const std::set<std::string>& NamesUsed() const { return names_; }

  // Encloses every value that the expression has for numbers within the intervals of its names.
  // Rounding is monotone, so the result in floating-point arithmetic lies within it too. A
  // diagnostic names a name without a value.
  base::Expected<NumberInterval> Evaluate(const Names& names) const;

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
  std::set<std::string> names_;
};

// Returns 131072 for "128Ki"; nullopt for other text.
std::optional<double> ParseQuantity(std::string_view text);

}  // namespace tessera::explore

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/interval.h"

// Arithmetic over named numbers: scores, areas, conditions on points of a space.
//
//     "power * area / accuracy"      "lanes <= 16 or memories.sram.capacity_bytes >= 128Ki"
//
// Precedence from the lowest: or, and, not, comparisons (< <= > >= == !=), + -, * /, unary -, ^.
// Functions: min, max (any number of arguments), ceil, floor, log2, sqrt. Truth is 1 and 0. Numbers
// may have the suffixes Ki, Mi, Gi and Ti. Names are words with dots, and may contain `*`.
namespace tessera::explore {

// Returns the value of a name; nullopt if there is none.
using Names = std::function<std::optional<Interval>(std::string_view name)>;

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
  base::Expected<Interval> Evaluate(const Names& names) const;

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
  std::set<std::string> names_;
};

// Returns 131072 for "128Ki"; nullopt for other text.
std::optional<double> ParseQuantity(std::string_view text);

}  // namespace tessera::explore

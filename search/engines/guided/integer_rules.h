// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/search/engines/lazy/propagation.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::guided {

using lazy::Bound;
using lazy::BoundLiteral;
using lazy::View;

// The value of an integer of the trail plus a constant.
struct Sum {
  int integer = 0;
  Bound shift = 0;
};

// Constraints on integers for which a clause of bounds would be too long. Each applies while its
// guard is true, and always if it has no guard.
//
//     order      low <= high                   bounds of either raise those of the other
//     remainder  rest = value mod m            values between two allowed remainders are skipped
//     sum        first + second = total        as two orders for each of the three
//     flip       first XOR second = mask       a fixed one fixes the other
//
// If a guard is open, an order makes it false as soon as bounds contradict the order; a sum or a
// flip does so as soon as its integers are fixed. So at a fixpoint with all integers fixed, every
// constraint is satisfied. Each conclusion is explained by the bounds that it used. Reasons of
// orders and sums shift (trail.h). Cost: O(constraints that name the integer) for each change.
class IntegerRules final : public lazy::ForeignRules {
 public:
  explicit IntegerRules(lazy::Trail& trail) : trail_(trail) {}

  void AddOrder(std::optional<BoundLiteral> guard, Sum low, Sum high);
  // `modulus` >= 1. The bounds of `rest` must imply 0 <= rest < modulus.
  void AddRemainder(int value, int rest, Bound modulus);
  void AddSum(std::optional<BoundLiteral> guard, int first, int second, Sum total);
  void AddFlip(std::optional<BoundLiteral> guard, int first, int second, Bound mask);

  // Derives the consequences of the constraints at the root. Returns false on a contradiction.
  bool Start();

  bool Follow(const lazy::Change& change) override;

 private:
  enum class Kind : uint8_t { kOrder, kRemainder, kSum, kFlip };
  struct Rule {
    Kind kind = Kind::kOrder;
    std::optional<BoundLiteral> guard;
    int first = 0;
    int second = 0;
    Sum last;          // the higher of an order, the total of a sum
    Bound number = 0;  // a shift, a modulus or a mask
  };

  void Watch(View view, size_t rule);
  void WatchBoth(int integer, size_t rule);
  void Add(const Rule& rule);
  bool Apply(const Rule& rule);
  bool ApplyOrder(const Rule& rule);
  bool ApplyRemainder(const Rule& rule);
  bool SkipRemainders(const Rule& rule);
  bool ApplySum(const Rule& rule);
  bool RaiseSum(const Rule& rule, View to, Bound distance, View a, View b);
  bool ApplyFlip(const Rule& rule);
  bool Flip(const Rule& rule, int from, int to);
  bool DenyGuard(const Rule& rule);
  bool IsOn(const Rule& rule) const { return !rule.guard || trail_.IsTrue(*rule.guard); }
  bool IsOff(const Rule& rule) const { return rule.guard && trail_.IsFalse(*rule.guard); }
  Bound Least(int integer) const { return trail_[2 * integer]; }
  Bound Most(int integer) const { return -trail_[2 * integer + 1]; }
  void OpenReason(const Rule& rule);

  lazy::Trail& trail_;
  std::vector<Rule> rules_;
  std::vector<std::vector<size_t>> watches_;  // by view: the rules to apply when it rises
};

}  // namespace tessera::search::engines::guided

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/integer_rules.h"

#include <algorithm>

namespace tessera::search::engines::guided {

using lazy::Reason;

void IntegerRules::Watch(View view, size_t rule) {
  const auto at = static_cast<size_t>(view);
  if (watches_.size() <= at) watches_.resize(at + 1);
  watches_[at].push_back(rule);
}

void IntegerRules::WatchBoth(int integer, size_t rule) {
  Watch(2 * integer, rule);
  Watch(2 * integer + 1, rule);
}

void IntegerRules::Add(const Rule& rule) {
  rules_.push_back(rule);
  if (rule.guard) Watch(rule.guard->view, rules_.size() - 1);
}

void IntegerRules::AddOrder(std::optional<BoundLiteral> guard, Sum low, Sum high) {
  Add({Kind::kOrder, guard, low.integer, 0, {high.integer, 0}, low.shift - high.shift});
  Watch(2 * low.integer, rules_.size() - 1);
  Watch(2 * high.integer + 1, rules_.size() - 1);
}

void IntegerRules::AddRemainder(int value, int rest, Bound modulus) {
  Add({Kind::kRemainder, std::nullopt, value, rest, {}, modulus});
  WatchBoth(value, rules_.size() - 1);
  WatchBoth(rest, rules_.size() - 1);
}

void IntegerRules::AddSum(std::optional<BoundLiteral> guard, int first, int second, Sum total) {
  Add({Kind::kSum, guard, first, second, total, 0});
  for (const int integer : {first, second, total.integer}) WatchBoth(integer, rules_.size() - 1);
}

void IntegerRules::AddFlip(std::optional<BoundLiteral> guard, int first, int second, Bound mask) {
  Add({Kind::kFlip, guard, first, second, {}, mask});
  WatchBoth(first, rules_.size() - 1);
  WatchBoth(second, rules_.size() - 1);
}

bool IntegerRules::Start() {
  return std::all_of(rules_.begin(), rules_.end(),
                     [this](const Rule& rule) { return Apply(rule); });
}

bool IntegerRules::Follow(const lazy::Change& change) {
  const auto at = static_cast<size_t>(change.view);
  if (at >= watches_.size()) return true;
  for (const size_t rule : watches_[at]) {
    if (!Apply(rules_[rule])) return false;
  }
  return true;
}

bool IntegerRules::Apply(const Rule& rule) {
  if (IsOff(rule)) return true;
  switch (rule.kind) {
    case Kind::kOrder:
      return ApplyOrder(rule);
    case Kind::kRemainder:
      return ApplyRemainder(rule);
    case Kind::kSum:
      return ApplySum(rule);
    case Kind::kFlip:
      return ApplyFlip(rule);
  }
  return true;
}

void IntegerRules::OpenReason(const Rule& rule) {
  trail_.OpenReason();
  if (rule.guard) trail_.Because(*rule.guard);
}

bool IntegerRules::ApplyOrder(const Rule& rule) {
  const int low = rule.first;
  const int high = rule.last.integer;
  if (!IsOn(rule)) {
    const Bound highest = Most(high) - rule.number;  // of low
    if (Least(low) <= highest) return true;
    trail_.OpenReason();
    trail_.Because({2 * low, highest + 1});
    trail_.Because({2 * high + 1, -Most(high)});
    return trail_.Imply(trail_.Not(*rule.guard), trail_.CloseReason(Reason::Kind::kLiterals));
  }
  const bool shifts = !rule.guard || trail_.IsBoolean(rule.guard->view);
  const auto raise = [&](View from, View to) {
    const BoundLiteral raised{to, trail_[from] + rule.number};
    if (trail_.IsTrue(raised)) return true;
    OpenReason(rule);
    trail_.Because({from, trail_[from]});
    return trail_.Imply(
        raised, trail_.CloseReason(shifts ? Reason::Kind::kShiftable : Reason::Kind::kLiterals));
  };
  return raise(2 * low, 2 * high) && raise(2 * high + 1, 2 * low + 1);
}

// Within one period of the modulus the bounds of the rest follow those of the value.
bool IntegerRules::ApplyRemainder(const Rule& rule) {
  const Bound modulus = rule.number;
  if (!SkipRemainders(rule)) return false;
  const Bound period = Least(rule.first) / modulus * modulus;
  if (Most(rule.first) >= period + modulus) return true;
  const auto imply = [&](BoundLiteral rest, Bound least, Bound most) {
    if (trail_.IsTrue(rest)) return true;
    trail_.OpenReason();
    trail_.Because({2 * rule.first, least});
    trail_.Because({2 * rule.first + 1, -most});
    return trail_.Imply(rest, trail_.CloseReason(Reason::Kind::kLiterals));
  };
  const Bound least = Least(rule.first);
  const Bound most = Most(rule.first);
  return imply({2 * rule.second, least - period}, least, period + modulus - 1) &&
         imply({2 * rule.second + 1, period - most}, period, most);
}

// Moves both bounds of the value to the next allowed remainders:
//
//     |..[====]..|..[====]..|..[====]..|     [==]: remainders from the rest's least to its most
//               ^ -> ^                       a bound between two of them moves to the next one
bool IntegerRules::SkipRemainders(const Rule& rule) {
  const Bound modulus = rule.number;
  const Bound lowest = Least(rule.second);
  const Bound highest = Most(rule.second);
  const auto skip = [&](View view, Bound gap, BoundLiteral beyond) {
    trail_.OpenReason();
    trail_.Because({view, gap});
    trail_.Because({2 * rule.second, lowest});
    trail_.Because({2 * rule.second + 1, -highest});
    return trail_.Imply(beyond, trail_.CloseReason(Reason::Kind::kLiterals));
  };
  const Bound least = Least(rule.first);
  const Bound over = least % modulus;
  if (over < lowest || over > highest) {
    // The last allowed value below and the first one above.
    const Bound period = least - over - (over < lowest ? modulus : 0);
    if (!skip(2 * rule.first, period + highest + 1, {2 * rule.first, period + modulus + lowest}))
      return false;
  }
  const Bound most = Most(rule.first);
  const Bound above = most % modulus;
  if (above >= lowest && above <= highest) return true;
  const Bound period = most - above + (above > highest ? modulus : 0);
  return skip(2 * rule.first + 1, 1 - period - lowest,
              {2 * rule.first + 1, modulus - period - highest});
}

// to >= a + b + distance
bool IntegerRules::RaiseSum(const Rule& rule, View to, Bound distance, View a, View b) {
  const BoundLiteral raised{to, trail_[a] + trail_[b] + distance};
  if (trail_.IsTrue(raised)) return true;
  OpenReason(rule);
  trail_.Because({a, trail_[a]});
  trail_.Because({b, trail_[b]});
  return trail_.Imply(raised, trail_.CloseReason(Reason::Kind::kLiterals));
}

bool IntegerRules::ApplySum(const Rule& rule) {
  const View a = 2 * rule.first, b = 2 * rule.second, total = 2 * rule.last.integer;
  const Bound shift = rule.last.shift;
  if (!IsOn(rule)) {
    const bool fixed = trail_.IsFixed(rule.first) && trail_.IsFixed(rule.second) &&
                       trail_.IsFixed(rule.last.integer);
    return !fixed || trail_[a] + trail_[b] == trail_[total] + shift || DenyGuard(rule);
  }
  return RaiseSum(rule, total, -shift, a, b) && RaiseSum(rule, total + 1, shift, a + 1, b + 1) &&
         RaiseSum(rule, a, shift, total, b + 1) && RaiseSum(rule, a + 1, -shift, total + 1, b) &&
         RaiseSum(rule, b, shift, total, a + 1) && RaiseSum(rule, b + 1, -shift, total + 1, a);
}

bool IntegerRules::ApplyFlip(const Rule& rule) {
  if (!IsOn(rule)) {
    const bool fixed = trail_.IsFixed(rule.first) && trail_.IsFixed(rule.second);
    return !fixed || (Least(rule.first) ^ Least(rule.second)) == rule.number || DenyGuard(rule);
  }
  return Flip(rule, rule.first, rule.second) && Flip(rule, rule.second, rule.first);
}

bool IntegerRules::Flip(const Rule& rule, int from, int to) {
  if (!trail_.IsFixed(from)) return true;
  const Bound value = Least(from) ^ rule.number;
  for (const BoundLiteral literal :
       {BoundLiteral{2 * to, value}, BoundLiteral{2 * to + 1, -value}}) {
    if (trail_.IsTrue(literal)) continue;
    OpenReason(rule);
    trail_.Because({2 * from, Least(from)});
    trail_.Because({2 * from + 1, -Most(from)});
    if (!trail_.Imply(literal, trail_.CloseReason(Reason::Kind::kLiterals))) return false;
  }
  return true;
}

// Makes the guard false, because all integers of the rule are fixed and contradict it.
bool IntegerRules::DenyGuard(const Rule& rule) {
  trail_.OpenReason();
  const auto because = [this](int integer) {
    trail_.Because({2 * integer, Least(integer)});
    trail_.Because({2 * integer + 1, -Most(integer)});
  };
  because(rule.first);
  because(rule.second);
  if (rule.kind == Kind::kSum) because(rule.last.integer);
  return trail_.Imply(trail_.Not(*rule.guard), trail_.CloseReason(Reason::Kind::kLiterals));
}

}  // namespace tessera::search::engines::guided

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/constraint_target.h"

#include <algorithm>
#include <variant>

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

using encoder::formulation::Domain;
using encoder::formulation::Integer;
using encoder::formulation::kFalse;
using encoder::formulation::kTrue;
using encoder::formulation::LiesBelow;
using encoder::formulation::Literal;
using encoder::formulation::Meaning;
using encoder::formulation::Term;

namespace {

constexpr int64_t kMostClauses = 4'000'000;

}  // namespace

ConstraintTarget::ConstraintTarget(lazy::Propagation& propagation)
    : ClauseSink(kMostClauses),
      propagation_(propagation),
      trail_(propagation.trail()),
      rules_(propagation.trail()),
      literals_(2) {
  propagation_.Attach(&rules_);
}

Literal ConstraintTarget::NewVariable() {
  CountVariable();
  literals_.emplace_back();
  return Literal(static_cast<int32_t>(literals_.size()) - 1);
}

void ConstraintTarget::Explain(Literal literal, const Meaning& meaning) {
  const auto* order = std::get_if<LiesBelow>(&meaning);
  if (order == nullptr || literal.Negative() || literal == kTrue) return;
  const View below = propagation_.packing().BelowView(order->first, order->second);
  auto& known = literals_[static_cast<size_t>(literal.Variable())];
  if (below >= 0 && !known) known = lazy::OrderLiteral(below);
}

BoundLiteral ConstraintTarget::LiteralOf(Literal literal) {
  auto& positive = literals_[static_cast<size_t>(literal.Variable())];
  if (!positive) positive = lazy::OrderLiteral(2 * trail_.AddBoolean());
  return literal.Negative() ? trail_.Not(*positive) : *positive;
}

ConstraintTarget::Guard ConstraintTarget::GuardOf(Literal literal) {
  return literal == kTrue ? std::nullopt : Guard(LiteralOf(literal));
}

void ConstraintTarget::Require(BoundLiteral literal) {
  if (!trail_.Imply(literal, {})) contradicted_ = true;
}

Integer ConstraintTarget::NewInteger(const Domain& domain) {
  const int buffers = propagation_.packing().buffers;
  if (integers_ >= buffers) {
    ++integers_;
    return {trail_.AddInteger(domain.first, domain.Last(), 1)};
  }
  const int buffer = integers_++;
  Require({2 * buffer, domain.first});
  Require({2 * buffer + 1, -domain.Last()});
  return {buffer};
}

Literal ConstraintTarget::AtLeast(Term term, int64_t value) {
  const Bound least = value - term.shift;  // perhaps so large that rounding it would overflow
  if (least <= trail_[2 * term.base.index]) return kTrue;
  if (least > -trail_[2 * term.base.index + 1]) return kFalse;
  const BoundLiteral bound = trail_.Rounded({2 * term.base.index, least});
  if (trail_.IsFalse(bound)) return kFalse;
  const auto [known, is_new] =
      variables_.try_emplace({bound.view, bound.bound}, static_cast<int32_t>(literals_.size()));
  if (is_new) literals_.emplace_back(bound);
  return Literal(known->second);
}

// Returns whether the pair rules imply the constraint: the guard is the order of the two buffers,
// and the distance is at most the size of the lower one.
bool ConstraintTarget::IsNative(Literal guard, const Sum& low, const Sum& high) const {
  const lazy::Packing& packing = propagation_.packing();
  if (low.integer >= packing.buffers || high.integer >= packing.buffers || guard == kTrue)
    return false;
  const View below = packing.BelowView(low.integer, high.integer);
  const auto& order = literals_[static_cast<size_t>(guard.Variable())];
  if (below < 0 || !order) return false;
  const BoundLiteral literal = guard.Negative() ? trail_.Not(*order) : *order;
  return literal == lazy::OrderLiteral(below) &&
         low.shift - high.shift <= propagation_.axis().Size(low.integer);
}

void ConstraintTarget::AddOrder(Literal guard, Term low, Term high) {
  if (guard == kFalse) return;
  const Sum lower{low.base.index, low.shift}, higher{high.base.index, high.shift};
  if (Count() && !IsNative(guard, lower, higher)) rules_.AddOrder(GuardOf(guard), lower, higher);
}

Integer ConstraintTarget::Remainder(Integer integer, int64_t modulus) {
  const auto [known, is_new] = remainders_.try_emplace({integer.index, modulus}, 0);
  if (!is_new) return {known->second};
  known->second = trail_.AddInteger(0, modulus - 1, 1);
  if (Count()) rules_.AddRemainder(integer.index, known->second, modulus);
  return {known->second};
}

void ConstraintTarget::AddSum(Literal guard, Integer first, Integer second, Term sum) {
  if (guard == kFalse || !Count()) return;
  rules_.AddSum(GuardOf(guard), first.index, second.index, {sum.base.index, sum.shift});
}

void ConstraintTarget::AddXor(Literal guard, Integer first, Integer second, int64_t mask) {
  if (guard != kFalse && Count()) rules_.AddFlip(GuardOf(guard), first.index, second.index, mask);
}

// Clauses are added at the root, so decided literals stay decided.
void ConstraintTarget::Store(std::span<const Literal> clause) {
  std::vector<BoundLiteral> open;
  for (const Literal literal : clause) {
    const BoundLiteral bound = LiteralOf(literal);
    if (trail_.IsTrue(bound)) return;
    const bool repeated = std::find(open.begin(), open.end(), bound) != open.end();
    if (!trail_.IsFalse(bound) && !repeated) open.push_back(bound);
  }
  if (open.empty()) contradicted_ = true;
  if (open.size() == 1) Require(open[0]);
  if (open.size() > 1) propagation_.clauses().Add(open, 0, 0);
}

bool ConstraintTarget::Finish() { return !contradicted_ && rules_.Start(); }

void ConstraintTarget::KeepModel() {
  model_.clear();
  for (View view = 0; view < trail_.Views(); view += 2) model_.push_back(trail_[view]);
}

bool ConstraintTarget::IsTrue(Literal literal) const {
  if (literal == kTrue || literal == kFalse) return literal == kTrue;
  const auto& positive = literals_[static_cast<size_t>(literal.Variable())];
  if (!positive) return literal.Negative();
  const Bound value = model_[static_cast<size_t>(lazy::IntegerOf(positive->view))];
  const bool holds =
      (positive->view & 1) == 0 ? value >= positive->bound : -value >= positive->bound;
  return holds != literal.Negative();
}

}  // namespace tessera::search::engines::guided

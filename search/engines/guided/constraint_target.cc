// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/constraint_target.h"

#include <algorithm>
#include <variant>

namespace tessera::search::engines::guided {

using encoder::formulation::Domain;
using encoder::formulation::Integer;
using encoder::formulation::kFalse;
using encoder::formulation::kTrue;
using encoder::formulation::Literal;
using encoder::formulation::Meaning;
using encoder::formulation::Precedence;
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
  const auto* order = std::get_if<Precedence>(&meaning);
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

// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/export/formula_record.h"

#include <variant>

#include "tessera/base/arithmetic.h"

namespace tessera::encoder::exports {

ClauseRecord::ClauseRecord(int64_t limit)
    : formulation::ClauseSink(limit), variables_(2), truths_(2, Truth::kOpen) {
  truths_[static_cast<size_t>(formulation::kTrue.Variable())] = Truth::kTrue;
}

formulation::Literal ClauseRecord::NewVariable() {
  variables_.push_back({CurrentTopic(), formulation::Auxiliary{}, false});
  truths_.push_back(Truth::kOpen);
  return formulation::Literal(VariableCount());
}

void ClauseRecord::Explain(formulation::Literal literal, const formulation::Meaning& meaning) {
  if (literal.Variable() == formulation::kTrue.Variable() || literal.Variable() > VariableCount())
    return;
  Variable& variable = variables_[static_cast<size_t>(literal.Variable())];
  if (!std::holds_alternative<formulation::Auxiliary>(variable.meaning)) return;
  variable.meaning = meaning;
  variable.negated = literal.Negative();
}

formulation::TopicCounts ClauseRecord::CountVariables() const {
  formulation::TopicCounts counts{};
  for (int32_t v = formulation::kTrue.Variable() + 1; v <= VariableCount(); ++v)
    ++counts[static_cast<size_t>(VariableAt(v).topic)];
  return counts;
}

std::span<const formulation::Literal> ClauseRecord::ClauseAt(size_t clause) const {
  const size_t begin = clause == 0 ? 0 : ends_[clause - 1];
  return std::span(literals_).subspan(begin, ends_[clause] - begin);
}

void ClauseRecord::Store(std::span<const formulation::Literal> clause) {
  literals_.insert(literals_.end(), clause.begin(), clause.end());
  ends_.push_back(literals_.size());
  topics_.push_back(CurrentTopic());
}

void ClauseRecord::Assign(formulation::Literal literal) {
  truths_[static_cast<size_t>(literal.Variable())] =
      literal.Negative() ? Truth::kFalse : Truth::kTrue;
}

bool ClauseRecord::IsAssigned(int32_t variable) const {
  return truths_[static_cast<size_t>(variable)] != Truth::kOpen;
}

bool ClauseRecord::IsTrue(formulation::Literal literal) const {
  return (truths_[static_cast<size_t>(literal.Variable())] == Truth::kTrue) != literal.Negative();
}

formulation::Integer TermRecord::NewInteger(const formulation::Domain& domain) {
  numbers_.push_back({domain, std::nullopt, std::nullopt});
  return formulation::Integer{static_cast<int32_t>(numbers_.size()) - 1};
}

void TermRecord::Explain(formulation::Integer integer, const formulation::Quantity& quantity) {
  std::optional<formulation::Quantity>& known =
      numbers_[static_cast<size_t>(integer.index)].quantity;
  if (!known) known = quantity;
}

formulation::Literal TermRecord::AtLeast(formulation::Term term, int64_t value) {
  const Number& number = NumberOf(term.base);
  if (value > number.domain.Last() + term.shift) return formulation::kFalse;
  const int64_t rank = base::CeilDiv(value - term.shift - number.domain.first, number.domain.step);
  if (rank <= 0) return formulation::kTrue;
  const auto [entry, is_new] = at_least_.try_emplace({term.base.index, rank}, formulation::kTrue);
  if (is_new) {
    entry->second = NewVariable();
    bounds_[entry->second.Variable()] = {term.base, rank};
    const int64_t value = number.domain.first + rank * number.domain.step;
    Explain(entry->second,
            formulation::Threshold{number.quantity.value_or(formulation::Quantity{}), value});
  }
  return entry->second;
}

void TermRecord::AddOrder(formulation::Literal guard, formulation::Term low,
                          formulation::Term high) {
  const int64_t distance = low.shift - high.shift;
  const formulation::Domain& below = NumberOf(low.base).domain;
  const formulation::Domain& above = NumberOf(high.base).domain;
  if (guard == formulation::kFalse || below.Last() + distance <= above.first) return;
  if (below.first + distance > above.Last()) return Add({~guard});
  Require(guard, Order{low.base, distance, high.base});
}

formulation::Integer TermRecord::Remainder(formulation::Integer integer, int64_t modulus) {
  const formulation::Domain domain = NumberOf(integer).domain;
  if (modulus > domain.Last()) return integer;
  const auto [entry, is_new] = remainders_.try_emplace({integer.index, modulus});
  if (is_new) {
    entry->second = NewInteger(formulation::RemainderDomain(domain, modulus));
    Require(formulation::kTrue, Division{integer, modulus, entry->second});
  }
  return entry->second;
}

void TermRecord::AddSum(formulation::Literal guard, formulation::Integer first,
                        formulation::Integer second, formulation::Term sum) {
  if (guard != formulation::kFalse) Require(guard, Sum{first, second, sum});
}

void TermRecord::AddXor(formulation::Literal guard, formulation::Integer first,
                        formulation::Integer second, int64_t mask) {
  if (guard != formulation::kFalse) Require(guard, Xor{first, second, mask});
}

void TermRecord::Require(formulation::Literal guard,
                         std::variant<Order, Division, Sum, Xor> statement) {
  if (Count()) conditions_.push_back({CurrentTopic(), guard, statement});
}

const TermRecord::Bound* TermRecord::FindBound(int32_t variable) const {
  const auto found = bounds_.find(variable);
  return found == bounds_.end() ? nullptr : &found->second;
}

void TermRecord::AssignRank(formulation::Integer integer, int64_t rank) {
  numbers_[static_cast<size_t>(integer.index)].rank = rank;
}

int64_t TermRecord::ValueOf(formulation::Integer integer) const {
  const Number& number = NumberOf(integer);
  return number.domain.first + number.domain.step * number.rank.value_or(0);
}

bool TermRecord::IsMet(const Condition& condition) const {
  struct Check {
    const TermRecord& record;
    bool operator()(const Order& order) const {
      return record.ValueOf(order.low) + order.distance <= record.ValueOf(order.high);
    }
    bool operator()(const Division& division) const {
      return record.ValueOf(division.integer) % division.modulus ==
             record.ValueOf(division.remainder);
    }
    bool operator()(const Sum& sum) const {
      return record.ValueOf(sum.first) + record.ValueOf(sum.second) ==
             record.ValueOf(sum.sum.base) + sum.sum.shift;
    }
    bool operator()(const Xor& difference) const {
      return (record.ValueOf(difference.first) ^ record.ValueOf(difference.second)) ==
             difference.mask;
    }
  };
  return !IsTrue(condition.guard) || std::visit(Check{*this}, condition.statement);
}

bool TermRecord::IsTrue(formulation::Literal literal) const {
  const Bound* bound = FindBound(literal.Variable());
  if (bound == nullptr) return ClauseRecord::IsTrue(literal);
  return (NumberOf(bound->integer).rank.value_or(0) >= bound->rank) != literal.Negative();
}

}  // namespace tessera::encoder::exports

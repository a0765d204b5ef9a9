#include "tessera/encoder/export/term_record.h"

#include "tessera/base/checked.h"

namespace tessera::encoder {

Integer TermRecord::NewInteger(const Domain& domain) {
  numbers_.push_back({domain, std::nullopt, std::nullopt});
  return Integer{static_cast<int32_t>(numbers_.size()) - 1};
}

void TermRecord::Explain(Integer integer, const Quantity& quantity) {
  std::optional<Quantity>& known = numbers_[static_cast<size_t>(integer.index)].quantity;
  if (!known) known = quantity;
}

Literal TermRecord::AtLeast(Term term, int64_t value) {
  const Number& number = NumberOf(term.base);
  if (value > number.domain.Last() + term.shift) return kFalse;
  const int64_t rank = base::CeilDiv(value - term.shift - number.domain.first, number.domain.step);
  if (rank <= 0) return kTrue;
  const auto [entry, is_new] = at_least_.try_emplace({term.base.index, rank}, kTrue);
  if (is_new) {
    entry->second = NewVariable();
    bounds_[entry->second.Variable()] = {term.base, rank};
    const int64_t value = number.domain.first + rank * number.domain.step;
    Explain(entry->second, Threshold{number.quantity.value_or(Quantity{}), value});
  }
  return entry->second;
}

void TermRecord::AddOrder(Literal guard, Term low, Term high) {
  const int64_t distance = low.shift - high.shift;
  const Domain& below = NumberOf(low.base).domain;
  const Domain& above = NumberOf(high.base).domain;
  if (guard == kFalse || below.Last() + distance <= above.first) return;
  if (below.first + distance > above.Last()) return Add({~guard});
  Require(guard, Order{low.base, distance, high.base});
}

Integer TermRecord::Remainder(Integer integer, int64_t modulus) {
  const Domain domain = NumberOf(integer).domain;
  if (modulus > domain.Last()) return integer;
  const auto [entry, is_new] = remainders_.try_emplace({integer.index, modulus});
  if (is_new) {
    entry->second = NewInteger(RemainderDomain(domain, modulus));
    Require(kTrue, Division{integer, modulus, entry->second});
  }
  return entry->second;
}

void TermRecord::AddSum(Literal guard, Integer first, Integer second, Term sum) {
  if (guard != kFalse) Require(guard, Sum{first, second, sum});
}

void TermRecord::AddXor(Literal guard, Integer first, Integer second, int64_t mask) {
  if (guard != kFalse) Require(guard, Xor{first, second, mask});
}

void TermRecord::Require(Literal guard, std::variant<Order, Division, Sum, Xor> statement) {
  if (Count()) conditions_.push_back({CurrentTopic(), guard, statement});
}

const TermRecord::Bound* TermRecord::FindBound(int32_t variable) const {
  const auto found = bounds_.find(variable);
  return found == bounds_.end() ? nullptr : &found->second;
}

void TermRecord::AssignRank(Integer integer, int64_t rank) {
  numbers_[static_cast<size_t>(integer.index)].rank = rank;
}

int64_t TermRecord::ValueOf(Integer integer) const {
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
      return record.ValueOf(division.integer) % division.modulus == record.ValueOf(division.remainder);
    }
    bool operator()(const Sum& sum) const {
      return record.ValueOf(sum.first) + record.ValueOf(sum.second) ==
             record.ValueOf(sum.sum.base) + sum.sum.shift;
    }
    bool operator()(const Xor& difference) const {
      return (record.ValueOf(difference.first) ^ record.ValueOf(difference.second)) == difference.mask;
    }
  };
  return !IsTrue(condition.guard) || std::visit(Check{*this}, condition.statement);
}

bool TermRecord::IsTrue(Literal literal) const {
  const Bound* bound = FindBound(literal.Variable());
  if (bound == nullptr) return ClauseRecord::IsTrue(literal);
  return (NumberOf(bound->integer).rank.value_or(0) >= bound->rank) != literal.Negative();
}

}  // namespace tessera::encoder

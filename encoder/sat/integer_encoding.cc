// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/integer_encoding.h"

#include <algorithm>
#include <bit>

#include "tessera/base/arithmetic.h"

namespace tessera::encoder::sat {

void AddSumByValues(formulation::ClauseSink& clauses, formulation::IntegerSink& integers,
                    formulation::Literal guard, formulation::Integer first,
                    const formulation::Domain& a, formulation::Integer second,
                    const formulation::Domain& b, formulation::Term sum) {
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t x = a.first + i * a.step;
    for (int64_t j = 0; j < b.count && !clauses.Full(); ++j) {
      const int64_t y = b.first + j * b.step;
      clauses.Add({~guard, ~integers.AtLeast({first}, x), ~integers.AtLeast({second}, y),
                   integers.AtLeast(sum, x + y)});
      clauses.Add({~guard, integers.AtLeast({first}, x + 1), integers.AtLeast({second}, y + 1),
                   ~integers.AtLeast(sum, x + y + 1)});
    }
  }
}

// The order encoding (Crawford and Baker 1994; Tamura et al. 2009): an integer is the sequence of
// answers to "at least v?".
//
//     value       0       4       8       12
//     literals       >=4     >=8     >=12          x = 8:   true  true  false
//                         chain: each literal implies the one on its left
//
// A bound is one literal, and a difference is one clause for each value. Unit propagation alone
// performs bounds propagation; this makes the encoding strong, and large. low <= high requires, for
// each v that low can have, that low >= v implies high >= v. If high has fewer values, the same is
// stated from its side: high < w implies low < w.
//
// A function of one integer (a remainder, flipped address bits) is stated value by value. A sum of
// two is stated for each pair of their values: lower bounds of both, and upper bounds of both,
// carry over to the sum.
//
// Cost: `count` variables and clauses per integer; min(count of low, count of high) clauses per
// difference; twice the count for a function, twice the product of both counts for a sum.

int64_t OrderEncoding::OrderVariables::ValueAt(int64_t rank) const {
  return domain.only.empty() ? domain.first + rank * domain.step
                             : domain.only[static_cast<size_t>(rank)];
}

int64_t OrderEncoding::OrderVariables::RankOf(int64_t value) const {
  if (domain.only.empty())
    return std::max<int64_t>(0, base::CeilDiv(value - domain.first, domain.step));
  return std::lower_bound(domain.only.begin(), domain.only.end(), value) - domain.only.begin();
}

formulation::Literal OrderEncoding::Rise(const OrderVariables& order_variables,
                                         int64_t rank) const {
  if (rank <= 0) return formulation::kTrue;
  if (rank >= order_variables.Count()) return formulation::kFalse;
  return formulation::Literal(order_variables.first_variable + static_cast<int32_t>(rank) - 1);
}

formulation::Integer OrderEncoding::NewInteger(const formulation::Domain& domain) {
  OrderVariables order_variables{domain, 0};
  for (int64_t rank = 1; rank < order_variables.Count() && !clauses_.Full(); ++rank) {
    const formulation::Literal rise = clauses_.NewVariable();
    if (rank == 1) order_variables.first_variable = rise.Dimacs();
    clauses_.Add({~rise, Rise(order_variables, rank - 1)});
  }
  order_variables_.push_back(std::move(order_variables));
  return formulation::Integer{static_cast<int32_t>(order_variables_.size()) - 1};
}

void OrderEncoding::Explain(formulation::Integer integer, const formulation::Quantity& quantity) {
  const OrderVariables& order_variables = OrderVariablesOf(integer);
  if (order_variables.first_variable == 0) return;
  for (int64_t rank = 1; rank < order_variables.Count() && !clauses_.Full(); ++rank)
    clauses_.Explain(Rise(order_variables, rank),
                     formulation::Threshold{quantity, order_variables.ValueAt(rank)});
}

formulation::Literal OrderEncoding::AtLeast(formulation::Term term, int64_t value) {
  const OrderVariables& order_variables = OrderVariablesOf(term.base);
  return Rise(order_variables, order_variables.RankOf(value - term.shift));
}

void OrderEncoding::AddOrder(formulation::Literal guard, formulation::Term low,
                             formulation::Term high) {
  const OrderVariables& low_variables = OrderVariablesOf(low.base);
  const OrderVariables& high_variables = OrderVariablesOf(high.base);
  if (low_variables.Count() <= high_variables.Count()) {
    for (int64_t rank = 0; rank < low_variables.Count(); ++rank) {
      const formulation::Literal above = AtLeast(high, low_variables.ValueAt(rank) + low.shift);
      clauses_.Add({~guard, ~Rise(low_variables, rank), above});
      if (above == formulation::kFalse)
        return;  // low lies below this value from here on; the chain implies the rest
    }
    return;
  }
  for (int64_t rank = high_variables.Count() - 1; rank >= 0; --rank) {
    const formulation::Literal below = ~AtLeast(low, high_variables.ValueAt(rank) + high.shift + 1);
    clauses_.Add({~guard, below, Rise(high_variables, rank + 1)});
    if (below == formulation::kFalse) return;
  }
}

namespace {

// The values modulo `modulus`; exactly these where they are fewer than the remainders of their step
// (few positions, far apart).
formulation::Domain RemaindersOf(const formulation::Domain& domain, int64_t modulus) {
  formulation::Domain remainders = formulation::RemainderDomain(domain, modulus);
  if (domain.count >= remainders.count) return remainders;
  std::vector<int64_t> values;
  for (int64_t rank = 0; rank < domain.count; ++rank)
    values.push_back((domain.first + rank * domain.step) % modulus);
  Restrict(remainders, std::move(values));
  return remainders;
}

}  // namespace

formulation::Integer OrderEncoding::Remainder(formulation::Integer integer, int64_t modulus) {
  const formulation::Domain domain = OrderVariablesOf(integer).domain;
  if (modulus > domain.Last()) return integer;
  const std::pair key(integer.index, modulus);
  if (const auto known = remainders_.find(key); known != remainders_.end()) return known->second;
  const formulation::Integer remainder = NewInteger(RemaindersOf(domain, modulus));
  AddImage(clauses_, *this, formulation::kTrue, integer, domain, remainder,
           [modulus](int64_t value) { return value % modulus; });
  return remainders_[key] = remainder;
}

void OrderEncoding::AddSum(formulation::Literal guard, formulation::Integer first,
                           formulation::Integer second, formulation::Term sum) {
  const formulation::Domain a = OrderVariablesOf(first).domain;
  const formulation::Domain b = OrderVariablesOf(second).domain;
  AddSumByValues(clauses_, *this, guard, first, a, second, b, sum);
}

void OrderEncoding::AddXor(formulation::Literal guard, formulation::Integer first,
                           formulation::Integer second, int64_t mask) {
  AddImage(clauses_, *this, guard, first, OrderVariablesOf(first).domain, second,
           [mask](int64_t value) { return value ^ mask; });
}

void OrderEncoding::Prefer(formulation::Integer integer, int64_t value) {
  const OrderVariables& order_variables = OrderVariablesOf(integer);
  for (int64_t rank = 1; rank < order_variables.Count(); ++rank) {
    const formulation::Literal rise = Rise(order_variables, rank);
    clauses_.Prefer(order_variables.ValueAt(rank) <= value ? rise : ~rise);
  }
}

int64_t OrderEncoding::ValueOf(formulation::Integer integer) const {
  const OrderVariables& order_variables = OrderVariablesOf(integer);
  int64_t rank = 0;
  while (rank + 1 < order_variables.Count() && model_.IsTrue(Rise(order_variables, rank + 1)))
    ++rank;
  return order_variables.ValueAt(rank);
}

namespace {

// Measured (docs/encoding.md): above this limit, writing order clauses costs more than their
// stronger propagation saves. With banks and modes, and sums that state the contents of banks,
// offsets matter less, and bits pay off earlier.
constexpr int64_t kMostOrderPositions = 512;
constexpr int64_t kMostOrderPositionsInBanks = 64;

// With the corresponding variables, measured on large formulas.
constexpr int64_t kBytesPerClause = 160;

}  // namespace

// Two orders of each pair take three clauses for each address bit, or more as order literals. A
// third of that is compared, because the domains of some pairs decide their order.
int64_t ClauseLimitFor(const formulation::Magnitude& magnitude) {
  const int64_t limit = std::min(kClauseLimit, magnitude.memory / kBytesPerClause);
  const int64_t bits = static_cast<int64_t>(
      std::bit_width(static_cast<uint64_t>(std::max<int64_t>(magnitude.positions - 1, 1))));
  return magnitude.pairs > limit / (2 * bits) ? 0 : limit;
}

std::unique_ptr<formulation::IntegerSink> MakeIntegers(IntegerEncoding encoding,
                                                       const formulation::Magnitude& magnitude,
                                                       formulation::ClauseSink& clauses,
                                                       const formulation::Model& model) {
  const int64_t limit = ClauseLimitFor(magnitude);
  const int64_t positions = std::min(magnitude.positions, kClauseLimit);
  // The unknown distance of a common delta has twice as many values as an offset, and is combined
  // with all of those.
  const int64_t of_sums = magnitude.sums == 0 ? 0 : 4 * magnitude.sums * positions * positions;
  const int64_t order_clauses = (2 * magnitude.pairs + 1) * positions + of_sums;
  const bool order_fits = order_clauses <= limit;
  const int64_t most = magnitude.banked ? kMostOrderPositionsInBanks : kMostOrderPositions;
  const bool order_pays = encoding == IntegerEncoding::kOrder || magnitude.positions <= most;
  if (encoding != IntegerEncoding::kBits && order_fits && order_pays) {
    return std::make_unique<OrderEncoding>(clauses, model);
  }
  return std::make_unique<BitEncoding>(clauses, model);
}

}  // namespace tessera::encoder::sat

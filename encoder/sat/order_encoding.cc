#include "tessera/encoder/sat/order_encoding.h"

#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/encoder/enumeration.h"

// The order encoding (Crawford and Baker 1994; Tamura et al. 2009): an integer is the row of answers to "at
// least v?".
//
//     value       0       4       8       12
//     literals       >=4     >=8     >=12          x = 8:   true  true  false
//                         chain: each literal implies the one on its left
//
// A bound is one literal, a difference one clause for each value, and unit propagation alone is bounds
// propagation: what makes it strong makes it large. low <= high asks, for each v that low can be, that low >=
// v implies high >= v; when high has fewer values, the same is said from its side: high < w implies low < w.
//
// A function of one integer (a remainder, flipped address bits) says for each value what its image is; a sum of
// two says for each pair of their values that both reached, or both not exceeded, carries over to the sum.
//
// Cost: `count` variables and clauses an integer; min(count of low, count of high) clauses a difference; twice
// the count for a function, twice the product of both counts for a sum.
namespace tessera::encoder {

int64_t OrderEncoding::Ladder::ValueAt(int64_t rank) const {
  return domain.only.empty() ? domain.first + rank * domain.step : domain.only[static_cast<size_t>(rank)];
}

int64_t OrderEncoding::Ladder::RankOf(int64_t value) const {
  if (domain.only.empty()) return std::max<int64_t>(0, base::CeilDiv(value - domain.first, domain.step));
  return std::lower_bound(domain.only.begin(), domain.only.end(), value) - domain.only.begin();
}

Literal OrderEncoding::Rise(const Ladder& ladder, int64_t rank) const {
  if (rank <= 0) return kTrue;
  if (rank >= ladder.Count()) return kFalse;
  return Literal(ladder.first_variable + static_cast<int32_t>(rank) - 1);
}

Integer OrderEncoding::NewInteger(const Domain& domain) {
  Ladder ladder{domain, 0};
  for (int64_t rank = 1; rank < ladder.Count() && !clauses_.Full(); ++rank) {
    const Literal rise = clauses_.NewVariable();
    if (rank == 1) ladder.first_variable = rise.Dimacs();
    clauses_.Add({~rise, Rise(ladder, rank - 1)});
  }
  ladders_.push_back(std::move(ladder));
  return Integer{static_cast<int32_t>(ladders_.size()) - 1};
}

void OrderEncoding::Explain(Integer integer, const Quantity& quantity) {
  const Ladder& ladder = LadderOf(integer);
  for (int64_t rank = 1; rank < ladder.Count() && ladder.first_variable != 0; ++rank)
    clauses_.Explain(Rise(ladder, rank), Threshold{quantity, ladder.ValueAt(rank)});
}

Literal OrderEncoding::AtLeast(Term term, int64_t value) {
  const Ladder& ladder = LadderOf(term.base);
  return Rise(ladder, ladder.RankOf(value - term.shift));
}

void OrderEncoding::AddOrder(Literal guard, Term low, Term high) {
  const Ladder& low_ladder = LadderOf(low.base);
  const Ladder& high_ladder = LadderOf(high.base);
  if (low_ladder.Count() <= high_ladder.Count()) {
    for (int64_t rank = 0; rank < low_ladder.Count(); ++rank) {
      const Literal above = AtLeast(high, low_ladder.ValueAt(rank) + low.shift);
      clauses_.Add({~guard, ~Rise(low_ladder, rank), above});
      if (above == kFalse) return;  // low lies below this value from here on, and the chain says the rest
    }
    return;
  }
  for (int64_t rank = high_ladder.Count() - 1; rank >= 0; --rank) {
    const Literal below = ~AtLeast(low, high_ladder.ValueAt(rank) + high.shift + 1);
    clauses_.Add({~guard, below, Rise(high_ladder, rank + 1)});
    if (below == kFalse) return;
  }
}

Integer OrderEncoding::Remainder(Integer integer, int64_t modulus) {
  const Domain domain = LadderOf(integer).domain;
  if (modulus > domain.Last()) return integer;
  const std::pair key(integer.index, modulus);
  if (const auto known = remainders_.find(key); known != remainders_.end()) return known->second;
  const Integer remainder = NewInteger(RemainderDomain(domain, modulus));
  AddImage(clauses_, *this, kTrue, integer, domain, remainder,
           [modulus](int64_t value) { return value % modulus; });
  return remainders_[key] = remainder;
}

void OrderEncoding::AddSum(Literal guard, Integer first, Integer second, Term sum) {
  const Domain a = LadderOf(first).domain;
  const Domain b = LadderOf(second).domain;
  AddSumByValues(clauses_, *this, guard, first, a, second, b, sum);
}

void OrderEncoding::AddXor(Literal guard, Integer first, Integer second, int64_t mask) {
  AddImage(clauses_, *this, guard, first, LadderOf(first).domain, second,
           [mask](int64_t value) { return value ^ mask; });
}

void OrderEncoding::Prefer(Integer integer, int64_t value) {
  const Ladder& ladder = LadderOf(integer);
  for (int64_t rank = 1; rank < ladder.Count(); ++rank) {
    const Literal rise = Rise(ladder, rank);
    clauses_.Prefer(ladder.ValueAt(rank) <= value ? rise : ~rise);
  }
}

int64_t OrderEncoding::ValueOf(Integer integer) const {
  const Ladder& ladder = LadderOf(integer);
  int64_t rank = 0;
  while (rank + 1 < ladder.Count() && model_.IsTrue(Rise(ladder, rank + 1))) ++rank;
  return ladder.ValueAt(rank);
}

}  // namespace tessera::encoder

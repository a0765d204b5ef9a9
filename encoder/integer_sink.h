#pragma once

#include <cstdint>
#include <vector>

#include "tessera/encoder/clause_sink.h"

namespace tessera::encoder {

// The values first, first + step, ..., count of them. step >= 1, count >= 1, first >= 0.
//
// `only` may name the values that suffice, ascending, among these: whoever looks for a model may leave out the
// others, or not. Empty: no such list.
struct Domain {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 1;
  std::vector<int64_t> only = {};
  int64_t Last() const { return first + step * (count - 1); }
};

// The values that an integer of this domain has modulo `modulus`, as a domain that may hold a few more.
Domain RemainderDomain(const Domain& domain, int64_t modulus);

// An integer variable of an IntegerSink.
struct Integer {
  int32_t index = 0;
};

// The value of an integer plus a constant.
struct Term {
  Integer base;
  int64_t shift = 0;
};

// Integers beside the Booleans of a ClauseSink. Addresses need two kinds of statement above all, bounds and
// differences, and every solver in reach has a native or a cheap form for both: order literals, bit-vectors,
// difference logic. Rules add three rarer ones: remainders, sums and address bits.
class IntegerSink {
 public:
  IntegerSink() = default;
  IntegerSink(const IntegerSink&) = delete;
  IntegerSink& operator=(const IntegerSink&) = delete;
  virtual ~IntegerSink() = default;

  virtual Integer NewInteger(const Domain& domain) = 0;

  // Says what an integer means, right after it was made. Solvers do not listen.
  virtual void Explain(Integer /*integer*/, const Quantity& /*quantity*/) {}

  // The literal [term >= value]; kTrue or kFalse where the domain decides. Equal questions give equal
  // literals.
  virtual Literal AtLeast(Term term, int64_t value) = 0;

  // If `guard` holds, then low <= high. Nothing is said when it does not hold.
  virtual void AddOrder(Literal guard, Term low, Term high) = 0;

  // An integer equal to `integer` modulo `modulus`; modulus >= 1. Equal questions may give equal integers.
  virtual Integer Remainder(Integer integer, int64_t modulus) = 0;

  // If `guard` holds, then first + second = sum. sum.shift >= 0.
  virtual void AddSum(Literal guard, Integer first, Integer second, Term sum) = 0;

  // If `guard` holds, then first XOR second = mask. mask >= 0.
  virtual void AddXor(Literal guard, Integer first, Integer second, int64_t mask) = 0;

  // An integer for `start` plus one of `sizes`, two or more and ascending, with values in `domain`. Which size it is,
  // ChooseSize says later, each time under another guard.
  virtual Integer NewEnd(Integer start, const std::vector<int64_t>& sizes, const Domain& domain);

  // If `guard` holds, then `end`, made by NewEnd for `start`, is at least start + size, and where it must be `exact`
  // no more.
  virtual void ChooseSize(Literal guard, Integer start, int64_t size, Integer end, bool exact);

  // Asks the search to try this value first. Never a constraint; a solver that cannot be told does not
  // listen.
  virtual void Prefer(Integer /*integer*/, int64_t /*value*/) {}

  // In the model found last.
  virtual int64_t ValueOf(Integer integer) const = 0;
};

}  // namespace tessera::encoder

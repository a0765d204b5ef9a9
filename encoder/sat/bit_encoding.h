#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/encoder/clause_sink.h"
#include "tessera/encoder/integer_sink.h"

namespace tessera::encoder {

// Integers as binary numbers with ripple-carry adders and comparators. See bit_encoding.cc.
class BitEncoding : public IntegerSink {
 public:
  // The solver behind `clauses` answers through `model`; both outlive this.
  BitEncoding(ClauseSink& clauses, const Model& model) : clauses_(clauses), model_(model) {}

  Integer NewInteger(const Domain& domain) override;
  void Explain(Integer integer, const Quantity& quantity) override;
  Literal AtLeast(Term term, int64_t value) override;
  void AddOrder(Literal guard, Term low, Term high) override;
  Integer Remainder(Integer integer, int64_t modulus) override;
  void AddSum(Literal guard, Integer first, Integer second, Term sum) override;
  void AddXor(Literal guard, Integer first, Integer second, int64_t mask) override;
  Integer NewEnd(Integer start, const std::vector<int64_t>& sizes, const Domain& domain) override;
  void ChooseSize(Literal guard, Integer start, int64_t size, Integer end, bool exact) override;
  void Prefer(Integer integer, int64_t value) override;
  int64_t ValueOf(Integer integer) const override;

 private:
  using Bits = std::vector<Literal>;  // least significant first; constants are literals too

  struct Number {
    Domain domain;
    Bits rank;
    Bits bits;
    std::optional<Quantity> quantity;
  };

  const Number& NumberOf(Integer integer) const { return numbers_[static_cast<size_t>(integer.index)]; }
  Bits SumOf(const Bits& a, const Bits& b);
  Bits Multiple(const Bits& bits, int64_t factor);
  const Bits& Shifted(Integer integer, int64_t shift);
  Literal ReachedBy(const Bits& bits, int64_t value);
  void AddEqual(Literal guard, const Bits& a, const Bits& b);
  Literal MajorityOf(Literal a, Literal b, Literal c);
  Literal ParityOf(Literal a, Literal b);

  ClauseSink& clauses_;
  const Model& model_;
  std::vector<Number> numbers_;
  std::map<std::pair<int32_t, int64_t>, Bits> shifted_;        // integer and shift
  std::map<int32_t, Bits> sizes_;                              // of the ends made by NewEnd
  std::map<std::pair<int32_t, int64_t>, Literal> at_least_;    // integer and rank of the value
  std::map<std::pair<int32_t, int64_t>, Integer> remainders_;  // integer and modulus
};

}  // namespace tessera::encoder

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tessera/encoder/clause_sink.h"
#include "tessera/encoder/integer_sink.h"

namespace tessera::encoder {

// Integers as order literals: one variable [x >= v] for each value but the first. See order_encoding.cc.
class OrderEncoding : public IntegerSink {
 public:
  // The solver behind `clauses` answers through `model`; both outlive this.
  OrderEncoding(ClauseSink& clauses, const Model& model) : clauses_(clauses), model_(model) {}

  Integer NewInteger(const Domain& domain) override;
  void Explain(Integer integer, const Quantity& quantity) override;
  Literal AtLeast(Term term, int64_t value) override;
  void AddOrder(Literal guard, Term low, Term high) override;
  Integer Remainder(Integer integer, int64_t modulus) override;
  void AddSum(Literal guard, Integer first, Integer second, Term sum) override;
  void AddXor(Literal guard, Integer first, Integer second, int64_t mask) override;
  void Prefer(Integer integer, int64_t value) override;
  int64_t ValueOf(Integer integer) const override;

 private:
  struct Ladder {
    Domain domain;
    int32_t first_variable = 0;  // of [x >= the second value]; the others follow it

    int64_t Count() const {
      return domain.only.empty() ? domain.count : static_cast<int64_t>(domain.only.size());
    }
    int64_t ValueAt(int64_t rank) const;
    int64_t RankOf(int64_t value) const;  // of the least value >= it; Count() or more when there is none
  };

  const Ladder& LadderOf(Integer integer) const { return ladders_[static_cast<size_t>(integer.index)]; }
  Literal Rise(const Ladder& ladder, int64_t rank) const;

  ClauseSink& clauses_;
  const Model& model_;
  std::vector<Ladder> ladders_;
  std::map<std::pair<int32_t, int64_t>, Integer> remainders_;  // by integer and modulus
};

}  // namespace tessera::encoder

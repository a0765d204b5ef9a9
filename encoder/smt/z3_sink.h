#pragma once

#include <z3++.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tessera/encoder/clause_sink.h"
#include "tessera/encoder/integer_sink.h"

namespace tessera::encoder {

// Clauses as they are, integers as bit-vectors of one width, wide enough that the sum of any two values
// cannot wrap. Z3's exceptions pass through: they end in EncodedSession.
class Z3Sink : public ClauseSink, public IntegerSink {
 public:
  // `greatest` is the greatest value of any integer; `limit` as in ClauseSink, orders counting as one.
  Z3Sink(z3::context& context, z3::solver& solver, int64_t greatest, int64_t limit);

  Literal NewVariable() override;
  Integer NewInteger(const Domain& domain) override;
  Literal AtLeast(Term term, int64_t value) override;
  void AddOrder(Literal guard, Term low, Term high) override;
  Integer Remainder(Integer integer, int64_t modulus) override;
  void AddSum(Literal guard, Integer first, Integer second, Term sum) override;
  void AddXor(Literal guard, Integer first, Integer second, int64_t mask) override;

  // Of the model given last.
  int64_t ValueOf(Integer integer) const override;
  bool IsTrue(Literal literal) const;

  void SetModel(const z3::model& model) { model_ = model; }
  z3::expr ExpressionOf(Literal literal) const;

 protected:
  void Store(std::span<const Literal> clause) override;

 private:
  struct Vector {
    Domain domain;
    z3::expr bits;
  };

  const Vector& VectorOf(Integer integer) const { return vectors_[static_cast<size_t>(integer.index)]; }
  Literal NewName(const z3::expr& truth);
  z3::expr Constant(int64_t value) const;
  void Require(const z3::expr& statement);

  z3::context& context_;
  z3::solver& solver_;
  unsigned width_;
  std::vector<z3::expr> truths_;  // by variable, from 1
  std::vector<Vector> vectors_;
  std::map<std::pair<int32_t, int64_t>, Literal> at_least_;  // integer and rank of the value
  z3::model model_;
};

}  // namespace tessera::encoder

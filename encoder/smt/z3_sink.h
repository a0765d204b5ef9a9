// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <z3++.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tessera/encoder/formulation/backend.h"

namespace tessera::encoder::smt {

// A sink that passes clauses on to Z3 unchanged. Integers become bit-vectors of one width, wide
// enough that the sum of any two values cannot wrap. Exceptions of Z3 pass through; EncodedSession
// catches them.
class Z3Sink : public formulation::ClauseSink, public formulation::IntegerSink {
 public:
  // `greatest` is the greatest value of any integer. `limit` as in ClauseSink; an order counts as
  // one.
  Z3Sink(z3::context& context, int64_t greatest, int64_t limit);

  formulation::Literal NewVariable() override;
  formulation::Integer NewInteger(const formulation::Domain& domain) override;
  formulation::Literal AtLeast(formulation::Term term, int64_t value) override;
  void AddOrder(formulation::Literal guard, formulation::Term low, formulation::Term high) override;
  formulation::Integer Remainder(formulation::Integer integer, int64_t modulus) override;
  void AddSum(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              formulation::Term sum) override;
  void AddXor(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              int64_t mask) override;

  // The value in the last model.
  int64_t ValueOf(formulation::Integer integer) const override;
  bool IsTrue(formulation::Literal literal) const;

  // The number of required statements that were not taken yet.
  size_t CountRequired() const { return required_.size() - taken_; }
  // Takes at most `most` of them, the oldest first.
  std::vector<z3::expr> TakeRequired(size_t most);

  void SetModel(const z3::model& model) { model_ = model; }
  z3::expr ExpressionOf(formulation::Literal literal) const;

 protected:
  void Store(std::span<const formulation::Literal> clause) override;

 private:
  struct Vector {
    formulation::Domain domain;
    z3::expr bits;
  };

  const Vector& VectorOf(formulation::Integer integer) const {
    return vectors_[static_cast<size_t>(integer.index)];
  }
  formulation::Literal NewName(const z3::expr& truth);
  z3::expr Constant(int64_t value) const;
  void Require(const z3::expr& statement);

  z3::context& context_;
  unsigned width_;
  std::vector<z3::expr> required_;
  size_t taken_ = 0;              // of them
  std::vector<z3::expr> truths_;  // by variable, from 1
  std::vector<Vector> vectors_;
  // integer and rank of the value
  std::map<std::pair<int32_t, int64_t>, formulation::Literal> at_least_;
  z3::model model_;
};

}  // namespace tessera::encoder::smt

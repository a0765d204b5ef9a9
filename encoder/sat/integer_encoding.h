// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/encoder/formulation/backend.h"

// Statements about integers that are written value by value, with bounds alone. Cheap if domains
// are small; otherwise the sink becomes full.
namespace tessera::encoder::sat {

// Requires to = image(from) if `guard` holds. `domain` is that of `from`. Cost: two clauses for
// each of its values.
template <typename Image>
void AddImage(formulation::ClauseSink& clauses, formulation::IntegerSink& integers,
              formulation::Literal guard, formulation::Integer from,
              const formulation::Domain& domain, formulation::Integer to, Image image) {
  for (int64_t rank = 0; rank < domain.count && !clauses.Full(); ++rank) {
    const int64_t value = domain.first + rank * domain.step;
    const int64_t wanted = image(value);
    const formulation::Literal below = ~integers.AtLeast({from}, value);
    const formulation::Literal above = integers.AtLeast({from}, value + 1);
    // If `to` cannot have the value, the two clauses contradict each other and exclude this value
    // of `from`.
    clauses.Add({~guard, below, above, integers.AtLeast({to}, wanted)});
    clauses.Add({~guard, below, above, ~integers.AtLeast({to}, wanted + 1)});
  }
}

// Requires first + second = sum if `guard` holds, encoded by bounds: lower and upper bounds of both
// carry over to the sum. `a` and `b` are the domains of the two. Cost: two clauses for each pair of
// values.
void AddSumByValues(formulation::ClauseSink& clauses, formulation::IntegerSink& integers,
                    formulation::Literal guard, formulation::Integer first,
                    const formulation::Domain& a, formulation::Integer second,
                    const formulation::Domain& b, formulation::Term sum);

// Integers as order literals: one variable [x >= v] for each value but the first. See
// integer_encoding.cc.
class OrderEncoding : public formulation::IntegerSink {
 public:
  // The solver of `clauses` answers through `model`. Both must outlive this object.
  OrderEncoding(formulation::ClauseSink& clauses, const formulation::Model& model)
      : clauses_(clauses), model_(model) {}

  formulation::Integer NewInteger(const formulation::Domain& domain) override;
  void Explain(formulation::Integer integer, const formulation::Quantity& quantity) override;
  formulation::Literal AtLeast(formulation::Term term, int64_t value) override;
  void AddOrder(formulation::Literal guard, formulation::Term low, formulation::Term high) override;
  formulation::Integer Remainder(formulation::Integer integer, int64_t modulus) override;
  void AddSum(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              formulation::Term sum) override;
  void AddXor(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              int64_t mask) override;
  void Prefer(formulation::Integer integer, int64_t value) override;
  int64_t ValueOf(formulation::Integer integer) const override;

 private:
  struct OrderVariables {
    formulation::Domain domain;
    int32_t first_variable = 0;  // of [x >= the second value]; the others follow it

    int64_t Count() const {
      return domain.only.empty() ? domain.count : static_cast<int64_t>(domain.only.size());
    }
    int64_t ValueAt(int64_t rank) const;
    int64_t RankOf(
        int64_t value) const;  // of the least value >= it; Count() or more if there is none
  };

  const OrderVariables& OrderVariablesOf(formulation::Integer integer) const {
    return order_variables_[static_cast<size_t>(integer.index)];
  }
  formulation::Literal Rise(const OrderVariables& order_variables, int64_t rank) const;

  formulation::ClauseSink& clauses_;
  const formulation::Model& model_;
  std::vector<OrderVariables> order_variables_;
  // by integer and modulus
  std::map<std::pair<int32_t, int64_t>, formulation::Integer> remainders_;
};

// Integers as binary numbers with ripple-carry adders and comparators. See bit_encoding.cc.
class BitEncoding : public formulation::IntegerSink {
 public:
  // The solver of `clauses` answers through `model`. Both must outlive this object.
  BitEncoding(formulation::ClauseSink& clauses, const formulation::Model& model)
      : clauses_(clauses), model_(model) {}

  formulation::Integer NewInteger(const formulation::Domain& domain) override;
  void Explain(formulation::Integer integer, const formulation::Quantity& quantity) override;
  formulation::Literal AtLeast(formulation::Term term, int64_t value) override;
  void AddOrder(formulation::Literal guard, formulation::Term low, formulation::Term high) override;
  formulation::Integer Remainder(formulation::Integer integer, int64_t modulus) override;
  void AddSum(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              formulation::Term sum) override;
  void AddXor(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              int64_t mask) override;
  formulation::Integer NewEnd(formulation::Integer start, const std::vector<int64_t>& sizes,
                              const formulation::Domain& domain) override;
  void ChooseSize(formulation::Literal guard, formulation::Integer start, int64_t size,
                  formulation::Integer end, bool exact) override;
  void Prefer(formulation::Integer integer, int64_t value) override;
  int64_t ValueOf(formulation::Integer integer) const override;

 private:
  // least significant first; constants are literals too
  using Bits = std::vector<formulation::Literal>;

  struct Number {
    formulation::Domain domain;
    Bits rank;
    Bits bits;
    std::optional<formulation::Quantity> quantity;
  };

  const Number& NumberOf(formulation::Integer integer) const {
    return numbers_[static_cast<size_t>(integer.index)];
  }
  Bits SumOf(const Bits& a, const Bits& b);
  Bits Multiple(const Bits& bits, int64_t factor);
  const Bits& Shifted(formulation::Integer integer, int64_t shift);
  formulation::Literal ReachedBy(const Bits& bits, int64_t value);
  void AddEqual(formulation::Literal guard, const Bits& a, const Bits& b);
  formulation::Literal MajorityOf(formulation::Literal a, formulation::Literal b,
                                  formulation::Literal c);
  formulation::Literal XorOf(formulation::Literal a, formulation::Literal b);

  formulation::ClauseSink& clauses_;
  const formulation::Model& model_;
  std::vector<Number> numbers_;
  std::map<std::pair<int32_t, int64_t>, Bits> shifted_;  // integer and shift
  std::map<int32_t, Bits> sizes_;                        // of the ends made by NewEnd
  // integer and rank of the value
  std::map<std::pair<int32_t, int64_t>, formulation::Literal> at_least_;
  std::map<std::pair<int32_t, int64_t>, formulation::Integer> remainders_;  // integer and modulus
};

// The encoding of integers as clauses.
enum class IntegerEncoding : uint8_t {
  // order literals if offsets have at most 512 values (64 in banks) and the clauses fit, else bits
  kByMagnitude,
  kOrder,  // order literals if the clauses fit, else bits
  kBits,
};

// The largest number of clauses of a formula for a SAT solver. A clause of three literals costs
// CaDiCaL about 80 bytes with its watches: 640 MB in total.
inline constexpr int64_t kClauseLimit = 8'000'000;

// Returns the clause limit that the available memory allows, at most kClauseLimit; 0 if the formula
// would have far more clauses, so that none is written.
int64_t ClauseLimitFor(const formulation::Magnitude& magnitude);

// Returns an encoding of integers in `clauses`, whose solver answers through `model`. Both must
// outlive the result.
std::unique_ptr<formulation::IntegerSink> MakeIntegers(IntegerEncoding encoding,
                                                       const formulation::Magnitude& magnitude,
                                                       formulation::ClauseSink& clauses,
                                                       const formulation::Model& model);

// Any SAT solver as a backend: a ClauseSink and Model that decides, with integers encoded for the
// given magnitude.
template <typename Solver>
class SolverBackend : public formulation::Backend {
 public:
  // `arguments` are passed to the constructor of the solver.
  template <typename... Arguments>
  SolverBackend(IntegerEncoding encoding, const formulation::Magnitude& magnitude,
                Arguments&&... arguments)
      : solver_(std::forward<Arguments>(arguments)...),
        integers_(MakeIntegers(encoding, magnitude, solver_, solver_)) {}

  formulation::ClauseSink& Clauses() override { return solver_; }
  formulation::IntegerSink& Integers() override { return *integers_; }
  formulation::Answer Decide(std::span<const formulation::Literal> assumptions,
                             const base::Budget& budget, const base::Stop& stop) override {
    return solver_.Decide(assumptions, budget, stop);
  }
  bool IsTrue(formulation::Literal literal) const override { return solver_.IsTrue(literal); }

 private:
  Solver solver_;
  std::unique_ptr<formulation::IntegerSink> integers_;
};

}  // namespace tessera::encoder::sat

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/search/engines/guided/integer_rules.h"
#include "tessera/search/engines/lazy/propagation.h"

namespace tessera::search::engines::guided {

// The propagation of the lazy engine as the target of a formulation (encoder/formulation).
// Constraints that a packing does not contain, such as banks, modes, ports, spans, rules and
// relations, become clauses over bounds and Booleans, and integer rules.
//
//     formulation          propagation
//     offset of buffer i   integer i of the packing, in the same units
//     [offset >= v]        the bound literal itself; no variable, no clauses that link bounds
//     "i below j"          the order literal of the packing's pair
//     an order of a pair   nothing: the pair rules of the packing have it
//     other orders, remainders, sums, flipped bits     IntegerRules
//
// So a literal that a clause implies is explained by that clause, and one conflict analysis serves
// all constraints.
//
// One target serves one query, because constants are decided by the bounds of the root.
class ConstraintTarget final : public encoder::formulation::ClauseSink,
                               public encoder::formulation::IntegerSink,
                               public encoder::formulation::Target {
 public:
  // The propagation must have been started for the query, and its packing must have the units of
  // the formulation.
  explicit ConstraintTarget(lazy::Propagation& propagation);

  encoder::formulation::Literal NewVariable() override;
  using encoder::formulation::ClauseSink::Explain;
  using encoder::formulation::ClauseSink::Prefer;
  using encoder::formulation::IntegerSink::Explain;
  using encoder::formulation::IntegerSink::Prefer;
  void Explain(encoder::formulation::Literal literal,
               const encoder::formulation::Meaning& meaning) override;

  // The first calls must be for the offsets of the buffers, in their order.
  encoder::formulation::Integer NewInteger(const encoder::formulation::Domain& domain) override;
  encoder::formulation::Literal AtLeast(encoder::formulation::Term term, int64_t value) override;
  void AddOrder(encoder::formulation::Literal guard, encoder::formulation::Term low,
                encoder::formulation::Term high) override;
  encoder::formulation::Integer Remainder(encoder::formulation::Integer integer,
                                          int64_t modulus) override;
  void AddSum(encoder::formulation::Literal guard, encoder::formulation::Integer first,
              encoder::formulation::Integer second, encoder::formulation::Term sum) override;
  void AddXor(encoder::formulation::Literal guard, encoder::formulation::Integer first,
              encoder::formulation::Integer second, int64_t mask) override;

  // Requires the literal in every solution that is sought.
  void Require(BoundLiteral literal);

  // Must be called at the end. Derives the direct consequences of all constraints. Returns false on
  // a contradiction.
  bool Finish();

  // Stores the values of the propagation as the model.
  void KeepModel();
  bool IsTrue(encoder::formulation::Literal literal) const override;
  int64_t ValueOf(encoder::formulation::Integer integer) const override {
    return model_[static_cast<size_t>(integer.index)];
  }

  encoder::formulation::ClauseSink& Clauses() override { return *this; }
  encoder::formulation::IntegerSink& Integers() override { return *this; }

 protected:
  void Store(std::span<const encoder::formulation::Literal> clause) override;

 private:
  using Guard = std::optional<BoundLiteral>;

  BoundLiteral LiteralOf(encoder::formulation::Literal literal);
  Guard GuardOf(encoder::formulation::Literal literal);
  bool IsNative(encoder::formulation::Literal guard, const Sum& low, const Sum& high) const;

  lazy::Propagation& propagation_;
  lazy::Trail& trail_;
  IntegerRules rules_;
  int integers_ = 0;  // made so far
  // By variable: the literal that holds when it is true; none until it is used.
  std::vector<std::optional<BoundLiteral>> literals_;
  std::map<std::pair<View, Bound>, int32_t> variables_;  // of bound literals
  std::map<std::pair<int, Bound>, int> remainders_;
  bool contradicted_ = false;
  std::vector<Bound> model_;  // of each integer
};

}  // namespace tessera::search::engines::guided

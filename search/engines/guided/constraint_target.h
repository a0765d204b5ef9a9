// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/search/engines/lazy/propagation.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::guided {

using lazy::Bound;
using lazy::BoundLiteral;
using lazy::View;

// The value of an integer of the trail plus a constant.
struct Sum {
  int integer = 0;
  Bound shift = 0;
};

// Constraints on integers for which a clause of bounds would be too long. Each applies while its
// guard is true, and always if it has no guard.
//
//     order      low <= high                   bounds of either raise those of the other
//     remainder  rest = value mod m            values between two allowed remainders are skipped
//     sum        first + second = total        as two orders for each of the three
//     flip       first XOR second = mask       a fixed one fixes the other
//
// If a guard is open, an order makes it false as soon as bounds contradict the order; a sum or a
// flip does so as soon as its integers are fixed. So at a fixpoint with all integers fixed, every
// constraint is satisfied. Each conclusion is explained by the bounds that it used. Reasons of
// orders and sums shift (trail.h). Cost: O(constraints that name the integer) for each change.
class IntegerRules final : public lazy::ForeignRules {
 public:
  explicit IntegerRules(lazy::Trail& trail) : trail_(trail) {}

  void AddOrder(std::optional<BoundLiteral> guard, Sum low, Sum high);
  // `modulus` >= 1. The bounds of `rest` must imply 0 <= rest < modulus.
  void AddRemainder(int value, int rest, Bound modulus);
  void AddSum(std::optional<BoundLiteral> guard, int first, int second, Sum total);
  void AddFlip(std::optional<BoundLiteral> guard, int first, int second, Bound mask);

  // Derives the consequences of the constraints at the root. Returns false on a contradiction.
  bool Start();

  bool Follow(const lazy::Change& change) override;

 private:
  enum class Kind : uint8_t { kOrder, kRemainder, kSum, kFlip };
  struct Rule {
    Kind kind = Kind::kOrder;
    std::optional<BoundLiteral> guard;
    int first = 0;
    int second = 0;
    Sum last;          // the higher of an order, the total of a sum
    Bound number = 0;  // a shift, a modulus or a mask
  };

  void Watch(View view, size_t rule);
  void WatchBoth(int integer, size_t rule);
  void Add(const Rule& rule);
  bool Apply(const Rule& rule);
  bool ApplyOrder(const Rule& rule);
  bool ApplyRemainder(const Rule& rule);
  bool SkipRemainders(const Rule& rule);
  bool ApplySum(const Rule& rule);
  bool RaiseSum(const Rule& rule, View to, Bound distance, View a, View b);
  bool ApplyFlip(const Rule& rule);
  bool Flip(const Rule& rule, int from, int to);
  bool DenyGuard(const Rule& rule);
  bool IsOn(const Rule& rule) const { return !rule.guard || trail_.IsTrue(*rule.guard); }
  bool IsOff(const Rule& rule) const { return rule.guard && trail_.IsFalse(*rule.guard); }
  Bound Least(int integer) const { return trail_[2 * integer]; }
  Bound Most(int integer) const { return -trail_[2 * integer + 1]; }
  void OpenReason(const Rule& rule);

  lazy::Trail& trail_;
  std::vector<Rule> rules_;
  std::vector<std::vector<size_t>> watches_;  // by view: the rules to apply when it rises
};

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

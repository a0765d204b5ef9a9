// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/meaning.h"

// The interfaces that constraints are written to. The formulation of a Problem (formulation.h)
// writes Boolean constraints to a ClauseSink and constraints on addresses to an IntegerSink. It
// does not depend on the solver that implements them.
namespace tessera::encoder::formulation {

// A Boolean variable or its negation, as in DIMACS: variable v > 0, negation -v.
class Literal {
 public:
  constexpr Literal() = default;
  constexpr explicit Literal(int32_t dimacs) : dimacs_(dimacs) {}

  constexpr int32_t Dimacs() const { return dimacs_; }
  constexpr int32_t Variable() const { return dimacs_ < 0 ? -dimacs_ : dimacs_; }
  constexpr bool Negative() const { return dimacs_ < 0; }
  constexpr Literal operator~() const { return Literal(-dimacs_); }
  friend constexpr bool operator==(const Literal&, const Literal&) = default;

 private:
  int32_t dimacs_ = 0;
};

// Variable 1 of every sink is true, so a condition that is decided in advance is a literal like any
// other.
inline constexpr Literal kTrue{1};
inline constexpr Literal kFalse{-1};

// The truth values of the last model that a solver found.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  // Valid only after an answer that found a model.
  virtual bool IsTrue(Literal literal) const = 0;
};

class ClauseSink {
 public:
  // A sink that accepts `limit` clauses. It drops later clauses and becomes Full. An incomplete
  // formula proves nothing: the caller must check Full before it trusts an answer.
  explicit ClauseSink(int64_t limit) : limit_(limit) {}
  ClauseSink(const ClauseSink&) = delete;
  ClauseSink& operator=(const ClauseSink&) = delete;
  virtual ~ClauseSink() = default;

  // Returns the variable with the next number, so variables made in sequence have consecutive
  // numbers.
  virtual Literal NewVariable() = 0;

  // Asks the search to try this literal first. This is never a constraint; a solver without such a
  // feature ignores it.
  virtual void Prefer(Literal /*literal*/) {}

  // Records the meaning of the literal, for sinks that keep a record. If several conditions share a
  // variable, the first one names it. Solvers ignore it.
  virtual void Explain(Literal /*literal*/, const Meaning& /*meaning*/) {}

  // Requires that at least one of the literals holds. Constants are removed first. A clause that
  // always holds is not counted.
  void Add(std::span<const Literal> clause);
  void Add(std::initializer_list<Literal> clause) { Add(std::span(clause.begin(), clause.size())); }

  // Sets the topic of the clauses that follow.
  void Enter(Topic topic) { topic_ = topic; }

  // Observes this Stop: when it requests a stop, the sink becomes Full and stays so. nullptr ends
  // the observation.
  void ObeyStop(const base::Stop* stop) { stop_ = stop; }

  const TopicCounts& Counts() const { return counts_; }

  // Variables by the topic under which they were made. Only for sinks that count them.
  const TopicCounts& Variables() const { return variables_; }
  bool Full() const { return full_; }

 protected:
  // Must be called for each new variable.
  void CountVariable() { ++variables_[static_cast<size_t>(topic_)]; }

  // Counts one constraint under the current topic. Returns false, permanently, once the limit is
  // exceeded or the observed Stop has requested a stop.
  bool Count();

  Topic CurrentTopic() const { return topic_; }

  // `clause` holds neither kTrue nor kFalse. It is empty if the formula is contradictory.
  virtual void Store(std::span<const Literal> clause) = 0;

 private:
  int64_t limit_;
  const base::Stop* stop_ = nullptr;
  int64_t total_ = 0;
  bool full_ = false;
  Topic topic_ = Topic::kOffsets;
  TopicCounts counts_{};
  TopicCounts variables_{};
};

// Returns a literal that holds if and only if both hold. Makes a variable only if neither is a
// constant.
Literal And(ClauseSink& sink, Literal a, Literal b);

// The values first, first + step, ...; there are `count` of them. step >= 1, count >= 1, first >=
// 0.
//
// `only` may list, ascending, those of these values that suffice: a search for a model may ignore
// the others. An empty list means that there is no such restriction.
struct Domain {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 1;
  std::vector<int64_t> only = {};
  int64_t Last() const { return first + step * (count - 1); }
};

// Restricts the domain to these values, in any order, if they are fewer than its own.
void Restrict(Domain& domain, std::vector<int64_t> values);

// Returns the values of an integer of this domain modulo `modulus`, as a domain. It may contain a
// few additional values.
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

// Integers, in addition to the Booleans of a ClauseSink. Addresses mostly need two kinds of
// statement, bounds and differences. Every supported solver has a native or cheap form of both:
// order literals, bit-vectors, difference logic. Rules add three rarer kinds: remainders, sums and
// address bits.
class IntegerSink {
 public:
  IntegerSink() = default;
  IntegerSink(const IntegerSink&) = delete;
  IntegerSink& operator=(const IntegerSink&) = delete;
  virtual ~IntegerSink() = default;

  virtual Integer NewInteger(const Domain& domain) = 0;

  // Records the meaning of an integer. Call it directly after the integer is made. Solvers ignore
  // it.
  virtual void Explain(Integer /*integer*/, const Quantity& /*quantity*/) {}

  // Returns the literal [term >= value]; kTrue or kFalse if the domain decides it. Equal queries
  // return equal literals.
  virtual Literal AtLeast(Term term, int64_t value) = 0;

  // Requires low <= high if `guard` holds.
  virtual void AddOrder(Literal guard, Term low, Term high) = 0;

  // Returns an integer equal to `integer` modulo `modulus`; modulus >= 1. Equal queries may return
  // equal integers.
  virtual Integer Remainder(Integer integer, int64_t modulus) = 0;

  // Requires first + second = sum if `guard` holds; sum.shift >= 0.
  virtual void AddSum(Literal guard, Integer first, Integer second, Term sum) = 0;

  // Requires first XOR second = mask if `guard` holds; mask >= 0.
  virtual void AddXor(Literal guard, Integer first, Integer second, int64_t mask) = 0;

  // Returns an integer for `start` plus one of `sizes`, with values in `domain`. There are two or
  // more sizes, ascending. ChooseSize later selects the size, each time under another guard.
  virtual Integer NewEnd(Integer start, const std::vector<int64_t>& sizes, const Domain& domain);

  // Requires, if `guard` holds, that `end`, made by NewEnd for `start`, is at least start + size;
  // if `exact`, that it is equal to start + size.
  virtual void ChooseSize(Literal guard, Integer start, int64_t size, Integer end, bool exact);

  // Asks the search to try this value first. This is never a constraint; a solver without such a
  // feature ignores it.
  virtual void Prefer(Integer /*integer*/, int64_t /*value*/) {}

  // The value in the last model.
  virtual int64_t ValueOf(Integer integer) const = 0;
};

enum class Satisfiability : uint8_t { kSatisfiable, kUnsatisfiable, kUnknown };

struct Answer {
  Satisfiability verdict = Satisfiability::kUnknown;
  std::string reason;  // for kUnknown: the limit that ended the work
  int64_t conflicts = 0;
};

// The target of a formulation, and the source of its answer.
class Target : public Model {
 public:
  virtual ClauseSink& Clauses() = 0;
  virtual IntegerSink& Integers() = 0;
};

// A solver that accepts clauses and integers and decides them under assumptions, repeatedly. Its
// model is that of the last Decide that answered kSatisfiable.
class Backend : public Target {
 public:
  // Budget units are conflicts. Clauses may be added afterwards.
  virtual Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                        const base::Stop& stop) = 0;
};

// The size of the formula of a Problem, known before the formula is written.
struct Magnitude {
  int64_t positions = 0;  // the largest number of values of an integer
  int64_t greatest = 0;   // the greatest value of any term, differences included
  int64_t pairs = 0;      // of buffers that must not overlap
  int64_t sums = 0;       // of two integers
  bool ladder = false;    // candidates select the sizes
  bool banked = false;    // sums of the contents of banks are written
  // bytes that the formula and its solver may use
  int64_t memory = std::numeric_limits<int64_t>::max();
};

// Thrown by a factory whose library needs more memory than the limit leaves for it.
struct TooLittleMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using BackendFactory = std::function<std::unique_ptr<Backend>(const Magnitude&)>;

}  // namespace tessera::encoder::formulation

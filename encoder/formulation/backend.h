#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/meaning.h"

// Where constraints go. The formulation of a Problem (formulation.h) speaks to a ClauseSink about
// truths and to an IntegerSink (integer_sink.h) about addresses; it never learns which solver
// listens.
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

// Variable 1 of every sink is true, so that what is decided in advance is a literal like any other.
inline constexpr Literal kTrue{1};
inline constexpr Literal kFalse{-1};

// The truths that a solver found last.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  // Only after an answer that found a model.
  virtual bool IsTrue(Literal literal) const = 0;
};

// What a clause is about. Counts by topic show that moving along a ladder adds clauses of sizes
// only.
enum class Topic : uint8_t {
  kOffsets,    // which addresses exist
  kLiveness,   // buffers that live together do not overlap
  kRelations,  // colocate, adjacent, same and different bank
  kAddresses,  // reserved ranges, spans, allowed banks
  kBanks,      // which banks a buffer touches
  kModes,      // schedules, transitions, accesses
  kPorts,
  kRules,     // what rules say, and constraints from outside (constraint.h)
  kSizes,     // what a candidate says
  kCapacity,  // what a capacity says
  kCosts,     // what a schedule and a placement cost
};
inline constexpr size_t kTopicCount = 11;
using TopicCounts = std::array<int64_t, kTopicCount>;

class ClauseSink {
 public:
  // A sink that takes `limit` clauses; what comes later is dropped and makes the sink Full. A
  // formula with holes proves nothing, so whoever writes one asks Full before believing an answer.
  explicit ClauseSink(int64_t limit) : limit_(limit) {}
  ClauseSink(const ClauseSink&) = delete;
  ClauseSink& operator=(const ClauseSink&) = delete;
  virtual ~ClauseSink() = default;

  // The number after the one given last, so that variables made in a row stand in a row.
  virtual Literal NewVariable() = 0;

  // Asks the search to try this literal first. Never a constraint; a solver that cannot be told
  // does not listen.
  virtual void Prefer(Literal /*literal*/) {}

  // Says what the literal means, for sinks that keep a record. Where several conditions share a
  // variable the first one names it. Solvers do not listen.
  virtual void Explain(Literal /*literal*/, const Meaning& /*meaning*/) {}

  // At least one of the literals holds. Constants are removed first; a clause that holds anyway is
  // not counted.
  void Add(std::span<const Literal> clause);
  void Add(std::initializer_list<Literal> clause) { Add(std::span(clause.begin(), clause.size())); }

  // Clauses added from here on are about `topic`.
  void Enter(Topic topic) { topic_ = topic; }

  // From now on the sink is Full, for good, when this Stop asks to stop; nullptr: no longer.
  void ObeyStop(const base::Stop* stop) { stop_ = stop; }

  const TopicCounts& Counts() const { return counts_; }

  // Variables by the topic under which they were made, of a sink that counts them.
  const TopicCounts& Variables() const { return variables_; }
  bool Full() const { return full_; }

 protected:
  // To be called for each variable made.
  void CountVariable() { ++variables_[static_cast<size_t>(topic_)]; }

  // Counts one constraint under the topic entered last; false, once and for all, when the limit is
  // passed.
  bool Count();

  Topic CurrentTopic() const { return topic_; }

  // `clause` holds neither kTrue nor kFalse; empty when the formula is contradictory.
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

// A literal that holds when both do, and only then. Makes a variable only when neither is a
// constant.
Literal And(ClauseSink& sink, Literal a, Literal b);

// The values first, first + step, ..., count of them. step >= 1, count >= 1, first >= 0.
//
// `only` may name the values that suffice, ascending, among these: whoever looks for a model may
// leave out the others, or not. Empty: no such list.
struct Domain {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 1;
  std::vector<int64_t> only = {};
  int64_t Last() const { return first + step * (count - 1); }
};

// The values that an integer of this domain has modulo `modulus`, as a domain that may hold a few
// more.
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

// Integers beside the Booleans of a ClauseSink. Addresses need two kinds of statement above all,
// bounds and differences, and every solver in reach has a native or a cheap form for both: order
// literals, bit-vectors, difference logic. Rules add three rarer ones: remainders, sums and address
// bits.
class IntegerSink {
 public:
  IntegerSink() = default;
  IntegerSink(const IntegerSink&) = delete;
  IntegerSink& operator=(const IntegerSink&) = delete;
  virtual ~IntegerSink() = default;

  virtual Integer NewInteger(const Domain& domain) = 0;

  // Says what an integer means, right after it was made. Solvers do not listen.
  virtual void Explain(Integer /*integer*/, const Quantity& /*quantity*/) {}

  // The literal [term >= value]; kTrue or kFalse where the domain decides. Equal questions give
  // equal literals.
  virtual Literal AtLeast(Term term, int64_t value) = 0;

  // If `guard` holds, then low <= high. Nothing is said when it does not hold.
  virtual void AddOrder(Literal guard, Term low, Term high) = 0;

  // An integer equal to `integer` modulo `modulus`; modulus >= 1. Equal questions may give equal
  // integers.
  virtual Integer Remainder(Integer integer, int64_t modulus) = 0;

  // If `guard` holds, then first + second = sum. sum.shift >= 0.
  virtual void AddSum(Literal guard, Integer first, Integer second, Term sum) = 0;

  // If `guard` holds, then first XOR second = mask. mask >= 0.
  virtual void AddXor(Literal guard, Integer first, Integer second, int64_t mask) = 0;

  // An integer for `start` plus one of `sizes`, two or more and ascending, with values in `domain`.
  // Which size it is, ChooseSize says later, each time under another guard.
  virtual Integer NewEnd(Integer start, const std::vector<int64_t>& sizes, const Domain& domain);

  // If `guard` holds, then `end`, made by NewEnd for `start`, is at least start + size, and where
  // it must be `exact` no more.
  virtual void ChooseSize(Literal guard, Integer start, int64_t size, Integer end, bool exact);

  // Asks the search to try this value first. Never a constraint; a solver that cannot be told does
  // not listen.
  virtual void Prefer(Integer /*integer*/, int64_t /*value*/) {}

  // In the model found last.
  virtual int64_t ValueOf(Integer integer) const = 0;
};

enum class Satisfiability : uint8_t { kSatisfiable, kUnsatisfiable, kUnknown };

struct Answer {
  Satisfiability verdict = Satisfiability::kUnknown;
  std::string reason;  // for kUnknown: what ended the work
  int64_t conflicts = 0;
};

// What a formulation is written to, and where its answer is read back.
class Target : public Model {
 public:
  virtual ClauseSink& Clauses() = 0;
  virtual IntegerSink& Integers() = 0;
};

// A solver that takes clauses and integers and decides them under assumptions, again and again. Its
// model is that of the last Decide, which answered kSatisfiable.
class Backend : public Target {
 public:
  // Budget units are conflicts. Adding clauses afterwards is allowed.
  virtual Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                        const base::Stop& stop) = 0;
};

// How large the formula of a Problem will be, known before any of it is written.
struct Magnitude {
  int64_t positions = 0;  // the most values of any integer
  int64_t greatest = 0;   // the greatest value of any term, differences included
  int64_t pairs = 0;      // of buffers that must not overlap
  int64_t sums = 0;       // of two integers
  bool ladder = false;    // sizes are chosen by candidates
  bool banked = false;    // sums of what banks hold are written
  int64_t memory =
      std::numeric_limits<int64_t>::max();  // bytes that the formula and its solver may take
};

using BackendFactory = std::function<std::unique_ptr<Backend>(const Magnitude&)>;

}  // namespace tessera::encoder::formulation

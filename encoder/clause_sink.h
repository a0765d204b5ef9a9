#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "tessera/base/stop.h"
#include "tessera/encoder/meaning.h"

// Where constraints go. The formulation of a Problem (formulation.h) speaks to a ClauseSink about truths and
// to an IntegerSink (integer_sink.h) about addresses; it never learns which solver listens.
namespace tessera::encoder {

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

// What a clause is about. Counts by topic show that moving along a ladder adds clauses of sizes only.
enum class Topic : uint8_t {
  kOffsets,    // which addresses exist
  kLiveness,   // buffers that live together do not overlap
  kRelations,  // colocate, adjacent, same and different bank
  kAddresses,  // reserved ranges, spans, allowed banks
  kBanks,      // which banks a buffer touches
  kModes,      // schedules, transitions, accesses
  kPorts,
  kRules,     // what rules say, and constraints from outside (constraint.h)
  kSizes,     // what a rung says
  kCapacity,  // what a capacity says
  kCosts,     // what a schedule and a placement cost
};
inline constexpr size_t kTopicCount = 11;
using TopicCounts = std::array<int64_t, kTopicCount>;

class ClauseSink {
 public:
  // A sink that takes `limit` clauses; what comes later is dropped and makes the sink Full. A formula with
  // holes proves nothing, so whoever writes one asks Full before believing an answer.
  explicit ClauseSink(int64_t limit) : limit_(limit) {}
  ClauseSink(const ClauseSink&) = delete;
  ClauseSink& operator=(const ClauseSink&) = delete;
  virtual ~ClauseSink() = default;

  // The number after the one given last, so that variables made in a row stand in a row.
  virtual Literal NewVariable() = 0;

  // Asks the search to try this literal first. Never a constraint; a solver that cannot be told does not
  // listen.
  virtual void Prefer(Literal /*literal*/) {}

  // Says what the literal means, for sinks that keep a record. Where several conditions share a variable the
  // first one names it. Solvers do not listen.
  virtual void Explain(Literal /*literal*/, const Meaning& /*meaning*/) {}

  // At least one of the literals holds. Constants are removed first; a clause that holds anyway is not
  // counted.
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

  // Counts one constraint under the topic entered last; false, once and for all, when the limit is passed.
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

// A literal that holds when both do, and only then. Makes a variable only when neither is a constant.
Literal And(ClauseSink& sink, Literal a, Literal b);

}  // namespace tessera::encoder

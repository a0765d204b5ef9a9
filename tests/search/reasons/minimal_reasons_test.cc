// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../draws.h"
#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/reasons/explain.h"

// Explains Problems with every kind of constraint in every way. The test turns the reported set
// into a Problem of its own, by the text of docs/reasons.md and without code of the explainer. Two
// engines decide that Problem, and enumeration too where it is small enough. It must have no
// placement, and must have one without any one of the conditions.
namespace tessera::encoder {
namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Condition;
using problem::ConditionKind;
using problem::Explanation;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Result;
using problem::Rule;
using problem::Status;

struct FormulationInput {
  Problem problem;
  Bytes capacity = 0;
};

// ---- conditions that are left out, by docs/reasons.md ----

class Rebuilding {
 public:
  Rebuilding(const FormulationInput& whole, const std::vector<Condition>& kept)
      : whole_(whole), kept_(kept) {}

  // One Problem, or two where a neighbour may be rounded up to its own alignment or to the kept
  // one.
  std::vector<FormulationInput> Run() const {
    std::vector<FormulationInput> readings = {Build(true), Build(false)};
    const auto same = [](const Buffer& a, const Buffer& b) { return a.alignment == b.alignment; };
    const std::vector<Buffer>& a = readings[0].problem.buffers;
    const std::vector<Buffer>& b = readings[1].problem.buffers;
    if (std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) readings.pop_back();
    return readings;
  }

 private:
  bool Has(ConditionKind kind, size_t owner, size_t item = 0) const {
    return std::find(kept_.begin(), kept_.end(),
                     Condition{kind, static_cast<int>(owner), static_cast<int>(item)}) !=
           kept_.end();
  }

  // Far beyond the needs of the constraints of these small Problems.
  Bytes Plenty(const Memory& memory) const {
    Bytes plenty = 64;
    for (const Buffer& buffer : whole_.problem.buffers)
      plenty += 4 * buffer.size + 4 * buffer.alignment;
    return memory.capacity + 8 * plenty * memory.alignment;
  }

  FormulationInput Build(bool as_asked) const {
    FormulationInput question;
    Problem& made = question.problem;
    const Problem& from = whole_.problem;
    for (size_t i = 0; i < from.loops.size(); ++i) {
      const bool leaves_at_its_end = from.loops[i].exits.back() == from.loops[i].end;
      if (!leaves_at_its_end || Has(ConditionKind::kLoop, 0, i) || !LimitsTransitions())
        made.loops.push_back(from.loops[i]);
    }
    for (size_t m = 0; m < from.memories.size(); ++m) made.memories.push_back(MemoryOf(m));
    question.capacity =
        Has(ConditionKind::kCapacity, 0) ? whole_.capacity : Plenty(from.memories[0]);
    std::map<int, int> number;
    for (size_t i = 0; i < from.buffers.size(); ++i) {
      if (!Has(ConditionKind::kBuffer, i)) continue;
      number[static_cast<int>(i)] = static_cast<int>(made.buffers.size());
      made.buffers.push_back(BufferOf(i, as_asked));
    }
    AddRelations(number, made);
    AddRules(number, made);
    return question;
  }

  bool LimitsTransitions() const {
    return std::any_of(
        whole_.problem.memories.begin(), whole_.problem.memories.end(),
        [](const Memory& memory) { return !memory.modes.empty() && memory.transitions; });
  }

  Memory MemoryOf(size_t m) const {
    Memory memory = whole_.problem.memories[m];
    const Bytes plenty = Plenty(memory);
    if (!Has(ConditionKind::kCapacity, m)) memory.capacity = plenty;
    if (!Has(ConditionKind::kMemoryAlignment, m)) memory.alignment = 1;
    for (size_t i = memory.reserved.size(); i-- > 0;) {
      if (!Has(ConditionKind::kReserved, m, i))
        memory.reserved.erase(memory.reserved.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (size_t i = 0; i < memory.banks.size(); ++i) {
      if (!Has(ConditionKind::kPorts, m, i)) memory.banks[i].ports = {};
    }
    if (!Has(ConditionKind::kTransitions, m)) memory.transitions.reset();
    if (!Has(ConditionKind::kModes, m)) {
      memory.modes.clear();
      memory.transitions.reset();
    }
    return memory;
  }

  // Whether a kept relation puts the buffer behind another one that is kept.
  bool IsNeighbour(size_t buffer) const {
    const std::vector<Relation>& relations = whole_.problem.relations;
    for (size_t i = 0; i < relations.size(); ++i) {
      if (relations[i].kind == RelationKind::kAdjacent &&
          relations[i].second == static_cast<int>(buffer) && Has(ConditionKind::kRelation, 0, i) &&
          Has(ConditionKind::kBuffer, static_cast<size_t>(relations[i].first)))
        return true;
    }
    return false;
  }

  Buffer BufferOf(size_t i, bool as_asked) const {
    Buffer buffer = whole_.problem.buffers[i];
    const Bytes own = buffer.alignment;
    if (!Has(ConditionKind::kAlignment, i)) buffer.alignment = 1;
    if (as_asked && IsNeighbour(i))
      buffer.alignment =
          std::lcm(own, whole_.problem.memories[static_cast<size_t>(buffer.memory)].alignment);
    // An alignment that the memory requires anyway gives no second reading.
    if (Has(ConditionKind::kMemoryAlignment, static_cast<size_t>(buffer.memory)))
      buffer.alignment = std::lcm(
          buffer.alignment, whole_.problem.memories[static_cast<size_t>(buffer.memory)].alignment);
    if (!Has(ConditionKind::kFixedOffset, i)) buffer.offset.reset();
    if (!Has(ConditionKind::kBanks, i)) {
      buffer.span = problem::Span::kAny;
      buffer.allowed_banks.clear();
    }
    std::vector<problem::Access> accesses;
    for (size_t a = 0; a < buffer.accesses.size(); ++a) {
      if (Has(ConditionKind::kAccess, i, a)) accesses.push_back(buffer.accesses[a]);
    }
    buffer.accesses = accesses;
    return buffer;
  }

  void AddRelations(const std::map<int, int>& number, Problem& made) const {
    for (size_t i = 0; i < whole_.problem.relations.size(); ++i) {
      Relation relation = whole_.problem.relations[i];
      if (!number.contains(relation.first) || !number.contains(relation.second)) continue;
      if (!Has(ConditionKind::kRelation, 0, i)) {
        // The permission to overlap is no condition.
        if (relation.kind != RelationKind::kColocate && relation.kind != RelationKind::kExclusive)
          continue;
        relation = {RelationKind::kExclusive, relation.first, relation.second, 0};
      }
      relation.first = number.at(relation.first);
      relation.second = number.at(relation.second);
      made.relations.push_back(relation);
    }
  }

  void AddRules(const std::map<int, int>& number, Problem& made) const {
    for (size_t i = 0; i < whole_.problem.rules.size(); ++i) {
      if (!Has(ConditionKind::kRule, 0, i)) continue;
      Rule rule = whole_.problem.rules[i];
      rule.buffers.clear();
      rule.pairs.clear();
      for (const int buffer : whole_.problem.rules[i].buffers) {
        if (number.contains(buffer)) rule.buffers.push_back(number.at(buffer));
      }
      for (const auto& [a, b] : whole_.problem.rules[i].pairs) {
        if (number.contains(a) && number.contains(b))
          rule.pairs.emplace_back(number.at(a), number.at(b));
      }
      if (!rule.buffers.empty() || !rule.pairs.empty()) made.rules.push_back(rule);
    }
  }

  const FormulationInput& whole_;
  const std::vector<Condition>& kept_;
};

// ---- engines that decide ----

constexpr double kMostPlacements = 2e6;

bool IsEnumerable(const FormulationInput& question) {
  double placements = 1;
  for (const Buffer& buffer : question.problem.buffers) {
    const Bytes capacity =
        buffer.memory == 0 ? question.capacity
                           : question.problem.memories[static_cast<size_t>(buffer.memory)].capacity;
    placements *= static_cast<double>(capacity) / static_cast<double>(buffer.alignment);
  }
  return placements < kMostPlacements;
}

class Judges {
 public:
  // Whether a placement exists; the engines agree, or the test fails.
  bool Fits(const FormulationInput& question) {
    const std::optional<bool> fits = Ask(sat_, question);
    EXPECT_TRUE(fits.has_value());
    const std::optional<bool> second = Ask(lazy_, question);
    EXPECT_EQ(fits, second.value_or(*fits));
    if (IsEnumerable(question)) {
      ++enumerated_;
      EXPECT_EQ(*fits, Enumerate(question.problem, question.capacity).has_value());
    }
    return *fits;
  }
  int Enumerated() const { return enumerated_; }

 private:
  // nullopt where the engine does not know all of these constraints.
  static std::optional<bool> Ask(const problem::Engine& engine, const FormulationInput& question) {
    const base::Stop never;
    const Result result = engine.Open(question.problem, nullptr)
                              ->Solve(0, question.capacity, base::Budget{10'000'000}, never);
    if (result.status == Status::kUnsupported) return std::nullopt;
    if (result.allocation) {
      EXPECT_TRUE(
          problem::Validate(question.problem, *result.allocation, question.capacity, 1).empty());
      return true;
    }
    EXPECT_EQ(result.status, Status::kInfeasible);
    return false;
  }

  sat::SatEngine sat_;
  search::engines::lazy::LazyEngine lazy_;
  int enumerated_ = 0;
};

// Each engine that refutes, all of them together as in `alloc`, `tile` and `plan`, and enumeration.
class Paths {
 public:
  Paths()
      : all_({&greedy_, &canonical_, &local_search_, &lazy_, &sat_}),
        only_canonical_({&canonical_}),
        ways_({{"cadical", Alone(sat_)},
               {"lazy", Alone(lazy_)},
               {"portfolio", search::allocate::MakeDecider(all_, never_)},
               {"canonical", search::allocate::MakeDecider(only_canonical_, never_)},
               {"enumeration", Enumerated},
               {"z3", Alone(z3_)}}) {}

  size_t Count() const { return ways_.size(); }
  // In turn; Z3, which is slow, seldom.
  size_t Take(int turn) const {
    const auto at = static_cast<size_t>(turn);
    return at % 16 == 15 ? ways_.size() - 1 : at % (ways_.size() - 1);
  }
  const std::string& NameOf(size_t way) const { return ways_[way].first; }
  // The other engines do not know all constraints, or give up where a capacity is free.
  bool DecidesAll(size_t way) const {
    return NameOf(way) == "cadical" || NameOf(way) == "portfolio" || NameOf(way) == "z3";
  }
  const search::reasons::Decide& DecideOf(size_t way) const { return ways_[way].second; }

 private:
  search::reasons::Decide Alone(const problem::Engine& engine) {
    return [this, &engine](const Problem& problem, Bytes capacity, const base::Budget& budget) {
      return engine.Open(problem, nullptr)->Solve(0, capacity, budget, never_);
    };
  }

  // Unknown where there are too many placements.
  static Result Enumerated(const Problem& problem, Bytes capacity, const base::Budget&) {
    Result result;
    if (!IsEnumerable({problem, capacity})) return result;
    result.allocation = Enumerate(problem, capacity);
    result.status = result.allocation ? Status::kFeasible : Status::kInfeasible;
    return result;
  }

  base::Stop never_;
  search::engines::greedy::GreedyEngine greedy_;
  search::engines::canonical::CanonicalEngine canonical_;
  search::engines::local_search::LocalSearchEngine local_search_;
  search::engines::lazy::LazyEngine lazy_;
  sat::SatEngine sat_;
  smt::Z3Engine z3_;
  std::vector<const problem::Engine*> all_;
  std::vector<const problem::Engine*> only_canonical_;
  std::vector<std::pair<std::string, search::reasons::Decide>> ways_;
};

// ---- questions ----

// Cases that the general draw makes rarely: alignments that collide with relations and reserved
// ranges, and too little of everything.
void Tighten(base::Random& random, Problem& problem) {
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  for (Memory& memory : problem.memories) {
    if (random.Chance(0.4)) memory.alignment = random.Uniform(2, 4);
    if (random.Chance(0.3)) {
      const Bytes begin = random.Uniform(0, memory.capacity);
      memory.reserved.push_back({{begin, begin + random.Uniform(1, 2)}, "more"});
    }
  }
  for (Buffer& buffer : problem.buffers) {
    if (random.Chance(0.3)) buffer.alignment = random.Uniform(2, 4);
  }
  for (int64_t left = random.Uniform(0, 2); left > 0; --left) {
    const int first = static_cast<int>(random.Uniform(0, last));
    const int second = static_cast<int>(random.Uniform(0, last));
    const Buffer& a = problem.buffers[static_cast<size_t>(first)];
    const Buffer& b = problem.buffers[static_cast<size_t>(second)];
    if (first == second || a.memory != b.memory) continue;
    const RelationKind usual =
        LiveTogether(a, b) ? RelationKind::kAdjacent : RelationKind::kSeparate;
    const RelationKind kind =
        random.Chance(0.5) ? usual : static_cast<RelationKind>(random.Uniform(0, 4));
    problem.relations.push_back({kind, first, second, 0});
  }
  for (Memory& memory : problem.memories) {
    if (random.Chance(0.5)) continue;
    memory.modes.clear();
    memory.transitions.reset();
  }
}

// Modes that may not follow each other freely, in steps that repeat.
void TightenModes(base::Random& random, Problem& problem) {
  for (Memory& memory : problem.memories) {
    if (memory.modes.empty()) continue;
    const auto last = static_cast<int64_t>(memory.modes.size()) - 1;
    memory.transitions.emplace();
    // From the first to the last and never back, or at random.
    const bool forward = random.Chance(0.6);
    for (int from = 0; from <= last; ++from) {
      for (int to = 0; to <= last; ++to) {
        if (forward ? from < to : from != to && random.Chance(0.3))
          memory.transitions->emplace_back(from, to);
      }
    }
  }
  const problem::Lifespan horizon = problem::Horizon(problem);
  if (random.Chance(0.7)) problem.loops = {{horizon.lower, horizon.upper, {horizon.upper}}};
}

// An infeasible question; nullopt where the draw is feasible.
std::optional<FormulationInput> DrawInfeasible(base::Random& random, Judges& judges) {
  FormulationInput question{DrawProblem(random), 0};
  const double draw = random.Real();
  if (draw < 0.5) Tighten(random, question.problem);
  if (draw > 0.75) TightenModes(random, question.problem);
  question.capacity = question.problem.memories[0].capacity;
  if (problem::CheckWellFormed(question.problem)) return std::nullopt;
  for (int less = 0; less < 4 && question.capacity > 0; ++less) {
    if (!judges.Fits(question)) return question;
    --question.capacity;
  }
  return std::nullopt;
}

// ---- counts, so that every kind is tested ----

struct Tally {
  std::map<ConditionKind, int> kinds;
  std::map<RelationKind, int> relations;
  std::map<problem::RequirementKind, int> rules;
  std::map<std::string, int> ways;
  int two_readings = 0;  // sets with a neighbour whose alignment is not among them
  int cut_short = 0;

  void Count(const Problem& problem, const std::vector<Condition>& conditions) {
    for (const Condition& each : conditions) {
      ++kinds[each.kind];
      const auto item = static_cast<size_t>(each.item);
      if (each.kind == ConditionKind::kRelation) ++relations[problem.relations[item].kind];
      if (each.kind == ConditionKind::kRule) ++rules[problem.rules[item].requirement.kind];
    }
  }
};

class MinimalReasons : public testing::Test {
 protected:
  bool FitsSomehow(const FormulationInput& question, const std::vector<Condition>& kept) {
    const std::vector<FormulationInput> readings = Rebuilding(question, kept).Run();
    for (const FormulationInput& reading : readings)
      EXPECT_FALSE(problem::CheckWellFormed(reading.problem).has_value());
    return std::any_of(readings.begin(), readings.end(),
                       [this](const FormulationInput& reading) { return judges_.Fits(reading); });
  }

  void Check(const FormulationInput& question, const Explanation& explanation) {
    EXPECT_FALSE(FitsSomehow(question, explanation.conditions)) << "the set does not collide";
    tally_.two_readings += Rebuilding(question, explanation.conditions).Run().size() > 1 ? 1 : 0;
    if (!explanation.minimal) return;
    for (size_t i = 0; i < explanation.conditions.size(); ++i) {
      std::vector<Condition> others = explanation.conditions;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_TRUE(FitsSomehow(question, others)) << "condition " << i << " is not needed";
    }
    tally_.Count(question.problem, explanation.conditions);
  }

  Judges judges_;
  Tally tally_;
};

TEST_F(MinimalReasons, OfEveryExplanationCollideAndAreNeeded) {
  base::Random random(3);
  Paths paths;
  constexpr int kWanted = 960;
  const int wanted = DrawsOf(kWanted);
  int explained = 0;
  for (int drawn = 0; explained < wanted && drawn < 20 * wanted && !HasFailure(); ++drawn) {
    const std::optional<FormulationInput> question = DrawInfeasible(random, judges_);
    if (!question) continue;
    const size_t way = paths.Take(explained++);
    SCOPED_TRACE("draw " + std::to_string(drawn) + " by " + paths.NameOf(way));
    const Explanation explanation =
        search::reasons::Explain(question->problem, question->capacity, paths.DecideOf(way), {});
    EXPECT_TRUE(explanation.minimal || !paths.DecidesAll(way));
    if (explanation.minimal) ++tally_.ways[paths.NameOf(way)];
    Check(*question, explanation);
  }
  EXPECT_EQ(explained, wanted);
  EXPECT_GE(judges_.Enumerated(), wanted);
  // Sanitizers draw less: there it is enough that nothing fails.
  if (wanted < kWanted) return;
  for (size_t way = 0; way < paths.Count(); ++way)
    EXPECT_GE(tally_.ways[paths.NameOf(way)], kWanted / 80) << paths.NameOf(way);
  for (int kind = 0; kind <= static_cast<int>(ConditionKind::kTransitions); ++kind)
    EXPECT_GE(tally_.kinds[static_cast<ConditionKind>(kind)], 3) << "condition kind " << kind;
  for (int kind = 0; kind < static_cast<int>(RelationKind::kExclusive); ++kind)
    EXPECT_GE(tally_.relations[static_cast<RelationKind>(kind)], 2) << "relation kind " << kind;
  for (size_t kind = 0; kind < problem::kRequirementKinds; ++kind)
    EXPECT_GE(tally_.rules[static_cast<problem::RequirementKind>(kind)], 1) << "rule kind " << kind;
  EXPECT_GE(tally_.two_readings, 5);
}

// With any budget the set collides, and is called minimal only if it is.
TEST_F(MinimalReasons, WithinAnyBudgetSayWhetherTheyAreMinimal) {
  base::Random random(2);
  Paths paths;
  const int wanted = DrawsOf(120);
  int explained = 0;
  for (int drawn = 0; explained < wanted && drawn < 20 * wanted && !HasFailure(); ++drawn) {
    const std::optional<FormulationInput> question = DrawInfeasible(random, judges_);
    if (!question) continue;
    ++explained;
    SCOPED_TRACE("draw " + std::to_string(drawn));
    const base::Budget budget{int64_t{1} << random.Uniform(0, 10)};
    const Explanation explanation = search::reasons::Explain(question->problem, question->capacity,
                                                             paths.DecideOf(0), {.budget = budget});
    tally_.cut_short += explanation.minimal ? 0 : 1;
    Check(*question, explanation);
  }
  EXPECT_EQ(explained, wanted);
  EXPECT_GE(tally_.cut_short, wanted / 4);
  EXPECT_LE(tally_.cut_short, wanted * 3 / 4);
}

}  // namespace
}  // namespace tessera::encoder

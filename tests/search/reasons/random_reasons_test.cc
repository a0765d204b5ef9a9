// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/reasons/explain.h"
#include "tessera/search/reasons/query.h"

// Compares explanations of random infeasible Problems, found with CaDiCaL, with enumeration. The
// named conditions collide, each of them is needed, every change makes the Problem feasible, and no
// smaller change does.
namespace tessera::encoder {
namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Change;
using problem::ChangeKind;
using problem::Condition;
using problem::ConditionKind;
using problem::Explanation;
using problem::Memory;
using problem::Problem;
using search::reasons::Query;

constexpr int kProblemsPerShard = 120;

Query Ask(const Problem& problem) { return {problem, problem.memories[0].capacity}; }

bool Fits(const Query& query) { return Enumerate(query.problem, query.capacity).has_value(); }

// Enumeration of a Problem without a capacity may not end.
bool IsEnumerable(const Query& query) {
  double placements = 1;
  for (const Buffer& buffer : query.problem.buffers)
    placements *= static_cast<double>(search::reasons::CapacityOf(query, buffer.memory)) /
                  static_cast<double>(buffer.alignment);
  return placements < 3e6;
}

void AddBank(Query& query, int memory, Bytes length) {
  Memory& home = query.problem.memories[static_cast<size_t>(memory)];
  home.banks.push_back({"more", {home.capacity, home.capacity + length}, {}});
  home.capacity += length;
  if (memory == 0) query.capacity += length;
}

// Adds the last bank of the memory to the rules that list bank `like` of it (-1: to all rules of
// banks), and to the group of that bank (-1: to a group of its own).
void AddBankToRules(Problem& problem, int memory, int like) {
  const auto last =
      static_cast<int>(problem.memories[static_cast<size_t>(memory)].banks.size()) - 1;
  for (problem::Rule& rule : problem.rules) {
    std::vector<int>& banks = rule.requirement.banks;
    if (rule.requirement.kind != problem::RequirementKind::kBanks) continue;
    if (problem.buffers[static_cast<size_t>(rule.buffers.front())].memory != memory) continue;
    if (like < 0 || std::count(banks.begin(), banks.end(), like) > 0) banks.push_back(last);
  }
  for (auto& [key, groups] : problem.memories[static_cast<size_t>(memory)].bank_sets) {
    for (std::vector<int>& group : groups) {
      if (std::count(group.begin(), group.end(), like) > 0) group.push_back(last);
    }
    if (like < 0) groups.push_back({last});
  }
}

// The question after the change, built without the code under test.
Query Apply(Query query, const Change& change, Bytes amount) {
  Problem& problem = query.problem;
  const auto owner = static_cast<size_t>(change.condition.owner);
  const auto item = static_cast<size_t>(change.condition.item);
  switch (change.kind) {
    case ChangeKind::kCapacity:
      problem.memories[owner].capacity += amount;
      if (owner == 0) query.capacity += amount;
      return query;
    case ChangeKind::kAlignment:
      if (change.condition.kind == ConditionKind::kAlignment)
        problem.buffers[owner].alignment = amount;
      if (change.condition.kind == ConditionKind::kMemoryAlignment)
        problem.memories[owner].alignment = amount;
      if (change.condition.kind == ConditionKind::kBuffer) {
        for (Buffer& buffer : problem.buffers) buffer.alignment = 1;
      }
      return query;
    case ChangeKind::kBank: {
      const problem::Bank like = problem.memories[owner].banks[item];
      AddBank(query, static_cast<int>(owner), like.range.end - like.range.begin);
      problem.memories[owner].banks.back().ports = like.ports;
      for (problem::Mode& mode : problem.memories[owner].modes) {
        const problem::BankMode same = mode.banks[item];
        mode.banks.push_back(same);
      }
      for (Buffer& buffer : problem.buffers) {
        std::vector<int>& allowed = buffer.allowed_banks;
        if (buffer.memory == change.condition.owner &&
            std::count(allowed.begin(), allowed.end(), change.condition.item) > 0)
          allowed.push_back(static_cast<int>(problem.memories[owner].banks.size()) - 1);
      }
      AddBankToRules(problem, change.condition.owner, change.condition.item);
      return query;
    }
    case ChangeKind::kFreeBank:
      AddBank(query, static_cast<int>(owner), amount);
      for (problem::Mode& mode : problem.memories[owner].modes) {
        mode.banks.push_back(
            {false, {{"", problem::AccessKind::kRead}, {"", problem::AccessKind::kWrite}}});
      }
      for (Buffer& buffer : problem.buffers) {
        if (buffer.memory == change.condition.owner && !buffer.allowed_banks.empty())
          buffer.allowed_banks.push_back(static_cast<int>(problem.memories[owner].banks.size()) -
                                         1);
      }
      AddBankToRules(problem, change.condition.owner, -1);
      return query;
    case ChangeKind::kPorts:
      for (auto* limit : {&problem.memories[owner].banks[item].ports.total,
                          &problem.memories[owner].banks[item].ports.reads,
                          &problem.memories[owner].banks[item].ports.writes}) {
        if (*limit) **limit += static_cast<int>(amount);
      }
      return query;
    case ChangeKind::kDrop:
      return search::reasons::Strike(query, change.condition);
    case ChangeKind::kCandidate:
      break;
  }
  return query;
}

// The next smaller change of the same kind; nullopt where there is none.
std::optional<Bytes> Less(const Query& query, const Change& change) {
  const auto owner = static_cast<size_t>(change.condition.owner);
  if (change.kind == ChangeKind::kDrop || change.kind == ChangeKind::kBank) return std::nullopt;
  if (change.kind != ChangeKind::kAlignment) return change.amount - 1;
  if (change.condition.kind == ConditionKind::kBuffer) return std::nullopt;
  const Bytes present = change.condition.kind == ConditionKind::kAlignment
                            ? query.problem.buffers[owner].alignment
                            : query.problem.memories[owner].alignment;
  for (Bytes divisor = change.amount + 1; divisor < present; ++divisor) {
    if (present % divisor == 0) return divisor;
  }
  return std::nullopt;
}

class RandomReasons : public testing::TestWithParam<uint64_t> {
 protected:
  static void ExpectMinimal(const Query& query, const Explanation& explanation) {
    EXPECT_TRUE(explanation.minimal);
    for (const Query& set : search::reasons::Readings(query, explanation.conditions)) {
      ASSERT_FALSE(problem::CheckWellFormed(set.problem).has_value());
      if (IsEnumerable(set)) {
        EXPECT_FALSE(Fits(set));
      }
    }
    for (size_t left_out = 0; left_out < explanation.conditions.size(); ++left_out) {
      std::vector<Condition> others = explanation.conditions;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
      const std::vector<Query> rest = search::reasons::Readings(query, others);
      if (std::all_of(rest.begin(), rest.end(), IsEnumerable)) {
        EXPECT_TRUE(std::any_of(rest.begin(), rest.end(), Fits))
            << "without condition " << left_out;
      }
    }
  }

  void ExpectChangesHold(const Query& query, const Explanation& explanation) {
    EXPECT_TRUE(explanation.all_tried);
    for (const Change& change : explanation.changes) {
      ++changes_;
      SCOPED_TRACE("change of kind " + std::to_string(static_cast<int>(change.kind)));
      const Query changed = Apply(query, change, change.amount);
      ASSERT_FALSE(problem::CheckWellFormed(changed.problem).has_value());
      EXPECT_TRUE(Fits(changed));
      EXPECT_TRUE(change.least);
      const std::optional<Bytes> less = Less(query, change);
      if (less && *less > 0 && IsEnumerable(Apply(query, change, *less))) {
        EXPECT_FALSE(Fits(Apply(query, change, *less)));
      }
    }
  }

  // The explanation lists every condition whose removal makes the Problem feasible.
  static void ExpectNothingMissed(const Query& query, const Explanation& explanation) {
    for (const Condition& condition : search::reasons::ListConditions(query)) {
      const bool strikable = condition.kind == ConditionKind::kRelation ||
                             condition.kind == ConditionKind::kReserved ||
                             condition.kind == ConditionKind::kFixedOffset ||
                             condition.kind == ConditionKind::kModes ||
                             condition.kind == ConditionKind::kLoop;
      if (!strikable) continue;
      const bool listed = std::any_of(
          explanation.changes.begin(), explanation.changes.end(), [&](const Change& change) {
            return change.kind == ChangeKind::kDrop && change.condition == condition;
          });
      EXPECT_EQ(Fits(search::reasons::Strike(query, condition)), listed);
    }
  }

  int changes_ = 0;
};

TEST_P(RandomReasons, AreMinimalAndTheirChangesLeast) {
  base::Random random(GetParam());
  const sat::SatEngine engine;
  const base::Stop stop;
  const search::reasons::Decide decide = [&](const Problem& problem, Bytes capacity,
                                             const base::Budget& budget) {
    return engine.Open(problem, nullptr)->Solve(0, capacity, budget, stop);
  };
  int explained = 0;
  for (int i = 0; i < kProblemsPerShard && !HasFailure(); ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    const Query query = Ask(DrawProblem(random));
    if (Fits(query)) continue;
    ++explained;
    const Explanation explanation =
        search::reasons::Explain(query.problem, query.capacity, decide, {});
    ExpectMinimal(query, explanation);
    ExpectChangesHold(query, explanation);
    ExpectNothingMissed(query, explanation);
  }
  EXPECT_GE(explained, kProblemsPerShard / 4);
  EXPECT_GE(changes_, explained / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomReasons, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace tessera::encoder

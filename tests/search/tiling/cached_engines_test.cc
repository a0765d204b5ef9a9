// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>

#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/tiling/engine_cache.h"

namespace tessera::search {
namespace {

using problem::Problem;

// Three buffers in a chain, each of which overlaps the next.
Problem ThreeInARow() {
  Problem problem;
  problem.memories.emplace_back();
  problem.memories[0].capacity = 20;
  for (int i = 0; i < 3; ++i) {
    problem::Buffer buffer;
    buffer.id = "b" + std::to_string(i);
    buffer.size = 8;
    buffer.lifespans = {{i, i + 2}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

problem::Result Ask(const tiling::CachedEngines& engines, const Problem& problem,
                    int64_t budget = 1000) {
  return engines.Pointers()[0]
      ->Open(problem, nullptr)
      ->Solve(0, problem.memories[0].capacity, base::Budget{budget}, base::Stop());
}

TEST(CachedEngines, KnowAProblemUnderOtherNamesAndTimes) {
  const engines::canonical::CanonicalEngine canonical;
  const tiling::CachedEngines engines({&canonical});
  const problem::Result first = Ask(engines, ThreeInARow());
  Problem renamed = ThreeInARow();
  renamed.name = "another network";
  for (problem::Buffer& buffer : renamed.buffers) {
    buffer.id += "_again";
    buffer.role = "weights";
    buffer.accesses = {{buffer.lifespans[0].lower, "pe", problem::AccessKind::kRead}};
    for (problem::Lifespan& life : buffer.lifespans)
      life = {5 * life.lower + 3, 5 * life.upper + 3};
  }
  const problem::Result second = Ask(engines, renamed);
  EXPECT_EQ(engines.Count().hits, 1);
  EXPECT_EQ(second.allocation->offsets, first.allocation->offsets);
}

struct Change {
  const char* name;
  std::function<void(Problem&)> make;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

class EveryChange : public testing::TestWithParam<Change> {};

TEST_P(EveryChange, MakesAnotherQuestion) {
  const engines::canonical::CanonicalEngine canonical;
  const tiling::CachedEngines engines({&canonical});
  Ask(engines, ThreeInARow());
  Problem changed = ThreeInARow();
  GetParam().make(changed);
  Ask(engines, changed);
  EXPECT_EQ(engines.Count().hits, 0);
  EXPECT_EQ(engines.Count().misses, 2);
}

problem::Rule AboutOffsets() {
  problem::Rule rule;
  rule.requirement.multiple = 4;
  rule.buffers = {0};
  return rule;
}

problem::Bank HalfBank() {
  problem::Bank bank;
  bank.range = {0, 10};
  return bank;
}

INSTANTIATE_TEST_SUITE_P(
    Of, EveryChange,
    testing::Values(Change{"size", [](Problem& p) { p.buffers[1].size = 9; }},
                    Change{"alignment", [](Problem& p) { p.buffers[1].alignment = 2; }},
                    Change{"life", [](Problem& p) { p.buffers[0].lifespans[0].upper = 3; }},
                    Change{"order_of_buffers",
                           [](Problem& p) { std::swap(p.buffers[0], p.buffers[1]); }},
                    Change{"fixed_offset", [](Problem& p) { p.buffers[2].offset = 0; }},
                    Change{"hint", [](Problem& p) { p.buffers[2].hint = 8; }},
                    Change{"capacity", [](Problem& p) { p.memories[0].capacity = 21; }},
                    Change{"memory_alignment", [](Problem& p) { p.memories[0].alignment = 4; }},
                    Change{"reserved",
                           [](Problem& p) {
                             p.memories[0].reserved = {{{0, 1}, ""}};
                           }},
                    Change{"bank", [](Problem& p) { p.memories[0].banks = {HalfBank()}; }},
                    Change{"relation",
                           [](Problem& p) {
                             p.relations = {{problem::RelationKind::kSeparate, 0, 2, 0}};
                           }},
                    Change{"rule", [](Problem& p) { p.rules = {AboutOffsets()}; }}),
    [](const auto& info) { return info.param.name; });

TEST(CachedEngines, DistinguishEnginesAndBudgets) {
  const engines::canonical::CanonicalEngine canonical;
  const engines::greedy::GreedyEngine greedy;
  const tiling::CachedEngines engines({&canonical, &greedy});
  Ask(engines, ThreeInARow(), 1000);
  Ask(engines, ThreeInARow(), 1001);
  const Problem problem = ThreeInARow();
  EXPECT_EQ(engines.Pointers()[1]
                ->Open(problem, nullptr)
                ->Solve(0, 20, base::Budget{1000}, base::Stop())
                .engine,
            "greedy");
  EXPECT_EQ(engines.Count().hits, 0);
}

TEST(CachedEngines, RefuteAsTheEnginesBehindThemDo) {
  const engines::canonical::CanonicalEngine canonical;
  const engines::local_search::LocalSearchEngine local_search;
  const tiling::CachedEngines engines({&canonical, &local_search});
  EXPECT_TRUE(engines.Pointers()[0]->Refutes());
  EXPECT_FALSE(engines.Pointers()[1]->Refutes());
}

TEST(CachedEngines, KeepNothingThatAStopCutOff) {
  const engines::canonical::CanonicalEngine canonical;
  const tiling::CachedEngines engines({&canonical});
  base::Stop stop;
  stop.Request();
  const Problem problem = ThreeInARow();
  EXPECT_EQ(
      engines.Pointers()[0]->Open(problem, nullptr)->Solve(0, 20, base::Budget(), stop).status,
      problem::Status::kUnknown);
  EXPECT_EQ(Ask(engines, problem).status, problem::Status::kFeasible);
}

TEST(WithoutNames, KeepsStepsWhereModesLookAtThem) {
  Problem problem = ThreeInARow();
  problem.buffers[0].lifespans = {{0, 7}};
  problem.buffers[0].accesses = {{4, "pe", problem::AccessKind::kRead}};
  EXPECT_EQ(tiling::WithoutNames(problem).buffers[0].lifespans[0].upper,
            5);  // after 0, 1, 2, 3 and 4
  EXPECT_TRUE(tiling::WithoutNames(problem).buffers[0].accesses.empty());
  problem.memories[0].banks = {HalfBank()};
  problem.memories[0].banks[0].ports.total = 1;
  EXPECT_EQ(tiling::WithoutNames(problem).buffers[0].lifespans[0].upper, 7);
  EXPECT_EQ(tiling::WithoutNames(problem).buffers[0].accesses.size(), 1U);
}

TEST(RestoreNames, PutsIdsBack) {
  EXPECT_EQ(tiling::RestoreNames("#0 and '#2' collide; # 1", ThreeInARow()),
            "b0 and 'b2' collide; # 1");
}

}  // namespace
}  // namespace tessera::search

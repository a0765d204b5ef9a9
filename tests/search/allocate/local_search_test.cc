// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/local_search/local_search.h"

#include <gmock/gmock.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../../encoder/brute_force.h"
#include "random_instance.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/engines/greedy/greedy.h"

namespace tessera::search {
namespace {

using problem::Problem;
using problem::Result;
using problem::Status;
using testing::HasSubstr;

Result Decide(const problem::Engine& engine, const Problem& problem, problem::Bytes capacity,
              int64_t units) {
  const base::Stop stop;
  return engine.Open(problem, nullptr)->Solve(0, capacity, base::Budget{units}, stop);
}

TEST(LocalSearch, FindsWhatBruteForceFindsAndNothingElse) {
  base::Random random(61);
  int fitting = 0, found = 0;
  for (int round = 0; round < 2000; ++round) {
    const Problem problem = RandomInstance(random);
    const problem::Bytes capacity = problem.memories[0].capacity;
    const Result result =
        Decide(engines::local_search::LocalSearchEngine(7), problem, capacity, 2000);
    const bool fits = FitsByBruteForce(problem, capacity);
    fitting += fits ? 1 : 0;
    if (!fits || !result.allocation) {
      ASSERT_EQ(result.status, Status::kUnknown) << "round " << round;
      continue;
    }
    ASSERT_EQ(result.status, Status::kFeasible) << "round " << round;
    const auto violations = Validate(problem, *result.allocation, capacity);
    ASSERT_TRUE(violations.empty()) << "round " << round << ": " << violations.front().message;
    ASSERT_EQ(result.peak, PeakOf(problem, *result.allocation));
    ++found;
  }
  EXPECT_GE(fitting, 800);
  EXPECT_GE(found * 100, fitting * 99);
}

// Penalties of sharing addresses between buffers that need not conflict.
void DrawPenalties(base::Random& random, Problem& problem) {
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  for (int64_t i = random.Uniform(1, 6); i > 0; --i) {
    problem::Cost cost;
    cost.weight = random.Uniform(1, 5);
    cost.first = static_cast<int>(random.Uniform(0, last));
    cost.second = static_cast<int>(random.Uniform(0, last));
    if (cost.first != cost.second) problem.costs.push_back(cost);
  }
}

TEST(LocalSearch, FindsTheLeastPenaltiesOfSmallProblems) {
  base::Random random(62);
  int costly = 0, least = 0;
  for (int round = 0; round < 1500; ++round) {
    Problem problem = RandomInstance(random);
    DrawPenalties(random, problem);
    const problem::Bytes capacity = problem.memories[0].capacity;
    const std::optional<int64_t> best = encoder::EnumerateLeastCost(problem, capacity);
    const base::Stop stop;
    const Result result = engines::local_search::LocalSearchEngine(7)
                              .Open(problem, nullptr)
                              ->Minimise(0, capacity, base::Budget{4000}, stop);
    if (!result.allocation) continue;
    ASSERT_TRUE(best) << "round " << round;
    ASSERT_TRUE(Validate(problem, *result.allocation, capacity).empty()) << "round " << round;
    ASSERT_EQ(result.cost, CostOf(problem, *result.allocation)) << "round " << round;
    ASSERT_GE(*result.cost, *best) << "round " << round;
    ASSERT_LE(result.least_cost, *best) << "round " << round;
    costly += *best > 0 ? 1 : 0;
    least += *best > 0 && result.cost == best ? 1 : 0;
  }
  EXPECT_GE(costly, 60);
  EXPECT_GE(least * 100, costly * 95);
}

TEST(LocalSearch, BreaksNoPlacementWhileItLowersPenalties) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Problem problem = problem::generate::MakeFlat(80, seed);
    problem.memories[0].capacity = problem.memories[0].capacity * 5 / 4;
    base::Random random(seed);
    for (int i = 0; i < 200; ++i) DrawPenalties(random, problem);
    const base::Stop stop;
    const engines::local_search::LocalSearchEngine engine(seed);
    const auto session = engine.Open(problem, nullptr);
    const problem::Bytes capacity = problem.memories[0].capacity;
    const Result placed = session->Solve(0, capacity, base::Budget{20'000}, stop);
    ASSERT_TRUE(placed.allocation);
    const Result result = session->Minimise(0, capacity, base::Budget{5'000}, stop);
    ASSERT_TRUE(result.allocation);
    EXPECT_TRUE(Validate(problem, *result.allocation, capacity).empty());
    EXPECT_LT(2 * *result.cost, CostOf(problem, *placed.allocation));
    EXPECT_EQ(engine.Open(problem, nullptr)->Minimise(0, capacity, base::Budget{5'000}, stop).cost,
              result.cost);
  }
}

TEST(LocalSearch, PacksWithSomeSlackWhereNoGreedyOrderDoes) {
  int found = 0, greedy = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Problem problem = problem::generate::MakeFlat(60, seed);
    const problem::Bytes capacity = problem.memories[0].capacity * 106 / 100;
    found +=
        Decide(engines::local_search::LocalSearchEngine(), problem, capacity, 20'000).allocation
            ? 1
            : 0;
    greedy +=
        Decide(engines::greedy::GreedyEngine(), problem, capacity, 1'000'000).allocation ? 1 : 0;
  }
  EXPECT_EQ(found, 10);
  EXPECT_LE(greedy, 5);
}

TEST(LocalSearch, ContinuesFromItsStateAtEveryCapacity) {
  const Problem problem = problem::generate::MakeFlat(40, 3);
  const problem::Bytes load = problem.memories[0].capacity;
  const auto session = engines::local_search::LocalSearchEngine().Open(problem, nullptr);
  const base::Stop stop;
  for (const int percent : {150, 120, 100, 110, 130}) {
    const problem::Bytes capacity = load * percent / 100;
    const Result result = session->Solve(0, capacity, base::Budget{20'000}, stop);
    if (percent > 100) {
      ASSERT_TRUE(result.allocation) << percent;
      EXPECT_TRUE(Validate(problem, *result.allocation, capacity).empty()) << percent;
    }
    EXPECT_EQ(session->Solve(0, capacity, base::Budget{20'000}, stop).statistics.nodes == 0,
              result.allocation.has_value())
        << "what is mended stays mended, " << percent;
  }
}

TEST(LocalSearch, OneSeedGivesOneAnswerAndAnotherAnother) {
  const Problem problem = problem::generate::MakeFlat(60, 1);
  const problem::Bytes capacity = problem.memories[0].capacity * 12 / 10;
  const auto offsets = [&](uint64_t seed) {
    const Result result =
        Decide(engines::local_search::LocalSearchEngine(seed), problem, capacity, 20'000);
    return result.allocation ? result.allocation->offsets : std::vector<problem::Bytes>{};
  };
  EXPECT_FALSE(offsets(1).empty());
  EXPECT_EQ(offsets(1), offsets(1));
  EXPECT_NE(offsets(1), offsets(2));
}

TEST(LocalSearch, NeverRefutesAndSpendsItsBudgetInstead) {
  const Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 5), MakeBuffer("b", 1, 3, 5)}, 9);
  EXPECT_FALSE(engines::local_search::LocalSearchEngine().Refutes());
  const Result result = Decide(engines::local_search::LocalSearchEngine(), problem, 9, 100);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_EQ(result.statistics.nodes, 100);
  EXPECT_EQ(result.reason, "local search reached its limit of 100 nodes");
}

TEST(LocalSearch, SaysWhereABufferHasNoPlaceAtAll) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 5)}, 8);
  problem.memories[0].reserved.push_back({{4, 5}, "stack"});
  const Result result = Decide(engines::local_search::LocalSearchEngine(), problem, 8, 100);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_EQ(result.statistics.nodes, 0);
  EXPECT_EQ(result.reason, "some buffer has no place of its own in memory 'sram'");
}

TEST(LocalSearch, RefusesWhatItCannotHonour) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 5), MakeBuffer("b", 1, 3, 5)}, 16);
  problem.relations.push_back({problem::RelationKind::kAdjacent, 0, 1, 0});
  const Result result = Decide(engines::local_search::LocalSearchEngine(), problem, 16, 100);
  EXPECT_EQ(result.status, Status::kUnsupported);
  EXPECT_THAT(result.reason, HasSubstr("the local-search engine does not support"));
}

TEST(LocalSearch, LeavesManyConflictsToOthers) {
  std::vector<problem::Buffer> crowd;
  for (int i = 0; i <= 2000; ++i) crowd.push_back(MakeBuffer("b" + std::to_string(i), 0, 1, 1));
  const Result result =
      Decide(engines::local_search::LocalSearchEngine(), MakeProblem(crowd, 4000), 4000, 100);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_EQ(result.statistics.nodes, 0);
  EXPECT_THAT(result.reason, HasSubstr("2000000 conflicts"));
}

// Two of three buffers fit side by side at a time; the third must leave its place for good.
TEST(LocalSearch, ConfinesAndImproves) {
  const Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 4, 4), MakeBuffer("c", 3, 5, 4)}, 8);
  const allocate::ConflictModel model = *allocate::BuildModel(problem, 0, base::Stop());
  engines::local_search::LocalSearch search(model, 1);
  const base::Stop stop;
  EXPECT_FALSE(search.Confine(3));
  ASSERT_TRUE(search.Confine(8));
  EXPECT_TRUE(search.HasOverlaps());
  EXPECT_GT(search.Improve(1000, stop), 0);
  EXPECT_FALSE(search.HasOverlaps());
  EXPECT_EQ(search.Improve(1000, stop), 0);
  EXPECT_THAT(search.Offsets(),
              testing::AnyOf(testing::ElementsAre(0, 4, 0), testing::ElementsAre(4, 0, 4)));
}

// Each row of the matrix of pairs is work, and so is each section.
TEST(ConflictModel, IsBuiltWithPollsOfTheStop) {
  std::vector<problem::Buffer> buffers;
  for (int i = 0; i < 1000; ++i)
    buffers.push_back(MakeBuffer("b" + std::to_string(i), i, i + 3, 1));
  const Problem problem = MakeProblem(buffers, 1000);
  const base::Stop never(base::Stop::AtPoll{std::numeric_limits<int64_t>::max()});
  ASSERT_TRUE(allocate::BuildModel(problem, 0, never));
  EXPECT_GE(never.Polls(), 1000 * 1000 / 2 / (1 << 16));
  for (int64_t k = 1; k <= never.Polls(); ++k) {
    const base::Stop stop(base::Stop::AtPoll{k});
    EXPECT_FALSE(allocate::BuildModel(problem, 0, stop));
    EXPECT_EQ(stop.Polls(), k);
  }
}

// 100 buffers live together: 9 900 pairs. A search that was stopped while it listed them continues
// as one that never stopped.
TEST(LocalSearch, ListsPairsWithPollsOfTheStop) {
  std::vector<problem::Buffer> buffers;
  for (int i = 0; i < 100; ++i)
    buffers.push_back(MakeBuffer("b" + std::to_string(i), 0, 1, 1 + i % 7));
  const Problem problem = MakeProblem(buffers, 500);
  const allocate::ConflictModel model = *allocate::BuildModel(problem, 0, base::Stop());
  const base::Stop never;
  engines::local_search::LocalSearch whole(model, 1);
  ASSERT_TRUE(whole.Confine(500));
  const int64_t steps = whole.Improve(20, never);
  for (const int64_t poll : {1, 2, 4}) {
    engines::local_search::LocalSearch search(model, 1);
    ASSERT_TRUE(search.Confine(500));
    const base::Stop stop(base::Stop::AtPoll{poll});
    EXPECT_EQ(search.Improve(20, stop), 0);
    EXPECT_EQ(stop.Polls(), poll);
    EXPECT_EQ(search.Improve(20, never), steps);
    EXPECT_EQ(search.Offsets(), whole.Offsets());
  }
}

TEST(LocalSearch, AStopEndsIt) {
  const Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 5), MakeBuffer("b", 1, 3, 5)}, 9);
  const allocate::ConflictModel model = *allocate::BuildModel(problem, 0, base::Stop());
  engines::local_search::LocalSearch search(model, 1);
  ASSERT_TRUE(search.Confine(9));
  base::Stop stop;
  stop.Request();
  EXPECT_EQ(search.Improve(1'000'000, stop), 0);
  EXPECT_TRUE(search.HasOverlaps());
}

}  // namespace
}  // namespace tessera::search

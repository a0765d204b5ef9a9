// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/several_memories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "random_instance.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/tests/encoder/brute_force.h"
#include "tessera/tests/encoder/random_problem.h"

// Peaks of several memories at once.
namespace tessera::search {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Status;

base::Expected<problem::Result> Solve(const Problem& problem, bool minimize,
                                      const base::Stop& stop) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  const encoder::sat::SatEngine sat;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &sat};
  allocate::AllocateOptions options;
  options.capacity = problem.memories.front().capacity;
  options.minimize = minimize;
  options.stop = &stop;
  return allocate::Allocate(problem, nullptr, 0, engines, options);
}

allocate::MemoriesResult Found(const Problem& problem, const allocate::PeakObjective& objective) {
  const base::Stop never;
  auto found = allocate::AllocateMemories(problem, objective, Solve, never);
  EXPECT_TRUE(found) << base::Format(found.error());
  return found ? *std::move(found) : allocate::MemoriesResult();
}

// Of all placements; nullopt if there is none.
std::optional<Bytes> LeastSum(Problem problem) {
  const Bytes first = problem.memories[0].capacity;
  const Bytes second = problem.memories[1].capacity;
  for (Bytes sum = 0; sum <= first + second; ++sum) {
    for (Bytes peak = std::max<Bytes>(0, sum - second); peak <= std::min(sum, first); ++peak) {
      problem.memories[1].capacity = sum - peak;
      if (encoder::Enumerate(problem, peak)) return sum;
    }
  }
  return std::nullopt;
}

TEST(SeveralMemories, HaveTheLeastSumOfPeaksOfAllPlacements) {
  int placed = 0;
  int refused = 0;
  for (uint64_t seed = 0; placed < 60 && seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const Problem problem = encoder::DrawProblem(random);
    if (problem.memories.size() != 2) continue;
    const allocate::MemoriesResult found = Found(problem, {.weights = {1, 1}});
    if (found.result.status == Status::kUnsupported) continue;  // a rule across memories
    const std::optional<Bytes> least = LeastSum(problem);
    ASSERT_EQ(found.result.status, least ? Status::kOptimal : Status::kInfeasible)
        << found.result.reason;
    ++(least ? placed : refused);
    if (!least) continue;
    EXPECT_EQ(found.score, static_cast<double>(*least));
    EXPECT_EQ(found.bound, found.score);
    ASSERT_EQ(found.peaks.size(), 2U);
    EXPECT_TRUE(
        problem::Validate(problem, *found.result.allocation, problem.memories[0].capacity, 1)
            .empty());
  }
  EXPECT_EQ(placed, 60);
  EXPECT_GE(refused, 5);
}

Problem TwoMemories() {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 4, 10), MakeBuffer("b", 2, 6, 6),
                                 MakeBuffer("c", 0, 4, 5), MakeBuffer("d", 5, 6, 8)},
                                100);
  problem.memories.push_back(problem.memories.front());
  problem.memories.back().name = "tcm";
  problem.buffers[2].memory = problem.buffers[3].memory = 1;
  return problem;
}

TEST(SeveralMemories, AreScoredByWeightOrBound) {
  const Problem problem = TwoMemories();
  EXPECT_EQ(Found(problem, {.weights = {1, 3}}).score, 16 + 3 * 8);
  EXPECT_EQ(Found(problem, {.weights = {1, 1}, .is_relative = true}).score, 2);
  const allocate::MemoriesResult second = Found(problem, {.weights = {0, 1}});
  EXPECT_EQ(second.result.status, Status::kOptimal);
  EXPECT_EQ(second.score, 8);
  EXPECT_EQ(second.peaks[1].lower_bound, 8);
}

TEST(SeveralMemories, DoNotFitIfOneDoesNot) {
  Problem problem = TwoMemories();
  problem.memories[1].capacity = 7;
  const allocate::MemoriesResult found = Found(problem, {.weights = {1, 1}});
  EXPECT_EQ(found.result.status, Status::kInfeasible);
  EXPECT_FALSE(found.result.allocation);
  EXPECT_TRUE(found.peaks.empty());
  EXPECT_THAT(found.result.reason, testing::HasSubstr("memory 'tcm'"));
}

TEST(SeveralMemories, AreNotIndependentUnderARuleOnBuffersOfBoth) {
  Problem problem = TwoMemories();
  problem::Rule rule;
  rule.name = "ping and pong";
  rule.requirement.kind = problem::RequirementKind::kCommonDelta;
  rule.pairs = {{0, 1}, {2, 3}};  // at the same distance, in both memories
  problem.rules.push_back(rule);
  const allocate::MemoriesResult found = Found(problem, {.weights = {1, 1}});
  EXPECT_EQ(found.result.status, Status::kUnsupported);
  EXPECT_THAT(found.result.reason, testing::HasSubstr("rule 'ping and pong' relates buffers"));
}

}  // namespace
}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/lazy_engine.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"
#include "tessera/problem/validator.h"

namespace tessera::encoder {
namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
using testing::HasSubstr;

// Random intervals of random sizes; the capacity is the load.
Problem DrawTight(uint64_t seed, int buffers) {
  base::Random random(seed);
  Problem problem;
  problem.memories.resize(1);
  std::vector<Bytes> loads(16);
  for (int i = 0; i < buffers; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = random.Uniform(10, 60);
    const problem::Step lower = random.Uniform(0, 14);
    buffer.lifespans = {{lower, random.Uniform(lower + 1, 16)}};
    for (problem::Step step = lower; step < buffer.lifespans[0].upper; ++step) {
      loads[static_cast<size_t>(step)] += buffer.size;
    }
    problem.buffers.push_back(buffer);
  }
  problem.memories[0].capacity = *std::max_element(loads.begin(), loads.end());
  return problem;
}

Result Solve(const Problem& problem, const search::engines::lazy::LazyOptions& options = {},
             const base::Budget& budget = {}) {
  return search::engines::lazy::LazyEngine(options)
      .Open(problem, nullptr)
      ->Solve(0, problem.memories[0].capacity, budget, {});
}

TEST(LazyEngine, ProvesACapacityBelowTheLoadInfeasibleAndBoundsThePeak) {
  Problem problem = DrawTight(1, 12);
  const Bytes load = problem.memories[0].capacity--;
  const Result result = Solve(problem);
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.lower_bound, load);
  EXPECT_EQ(result.engine, "lazy");
}

TEST(LazyEngine, SaysUnknownWithoutABudget) {
  const Result result = Solve(DrawTight(1, 12), {}, {0});
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_THAT(result.reason, HasSubstr("budget"));
}

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Buffers with a gap in their lives; all live together at step 0.
Problem DrawWithGaps(int buffers) {
  base::Random random(7);
  Problem problem;
  problem.memories.resize(1);
  for (int i = 0; i < buffers; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = random.Uniform(10, 60);
    const problem::Step begin = random.Uniform(2, 30);
    buffer.lifespans = {{0, 1}, {begin, begin + random.Uniform(1, 9)}};
    problem.memories[0].capacity += buffer.size;
    problem.buffers.push_back(buffer);
  }
  return problem;
}

TEST(LazyEngine, AnswersAfterAStopThatEndedItsLoading) {
  const Problem problem = DrawWithGaps(60);
  const Bytes capacity = problem.memories[0].capacity;
  const base::Stop never(base::Stop::AtPoll{kNever});
  const search::engines::lazy::LazyEngine engine;
  const Result whole = engine.Open(problem, nullptr)->Solve(0, capacity, {}, never);
  ASSERT_EQ(whole.status, Status::kFeasible);
  for (int64_t k = 1; k < never.Polls(); ++k) {
    SCOPED_TRACE(k);
    const auto session = engine.Open(problem, nullptr);
    const base::Stop stop(base::Stop::AtPoll{k});
    EXPECT_EQ(session->Solve(0, capacity, {}, stop).status, Status::kUnknown);
    EXPECT_LE(stop.Polls() - k, 8);
    const Result later = session->Solve(0, capacity, {}, {});
    ASSERT_EQ(later.status, Status::kFeasible);
    EXPECT_TRUE(problem::Validate(problem, *later.allocation, capacity).empty());
    EXPECT_EQ(session->Solve(0, 1, {}, {}).status, Status::kInfeasible);
  }
}

TEST(LazyEngine, SaysUnknownWhenStopped) {
  const Problem problem = DrawTight(1, 12);
  base::Stop stop;
  stop.Request();
  const Result result = search::engines::lazy::LazyEngine()
                            .Open(problem, nullptr)
                            ->Solve(0, problem.memories[0].capacity, {}, stop);
  EXPECT_EQ(result.status, Status::kUnknown);
}

// The budget alone would take seconds.
TEST(LazyEngine, ADeadlineEndsTheSearch) {
  Problem problem = DrawTight(1, 60);
  for (size_t i = 0; i < problem.buffers.size(); i += 2) problem.buffers[i].alignment = 16;
  const base::Budget budget{20'000};
  const base::Stop soon(base::Stop::Clock::now() + std::chrono::milliseconds(20));
  const Result result = search::engines::lazy::LazyEngine()
                            .Open(problem, nullptr)
                            ->Solve(0, problem.memories[0].capacity, budget, soon);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_LT(result.statistics.conflicts, budget.units);
}

TEST(LazyEngine, ASpentBudgetIsNoProofAndMoreOfItGoesOn) {
  const Problem problem = DrawTight(36, 30);
  const auto session = search::engines::lazy::LazyEngine().Open(problem, nullptr);
  const Bytes capacity = problem.memories[0].capacity;
  const Status whole = Solve(problem).status;
  Result result = session->Solve(0, capacity, {1}, {});
  int calls = 1;
  for (; result.status == Status::kUnknown && calls < 10'000; ++calls) {
    EXPECT_LE(result.statistics.conflicts, 1);
    result = session->Solve(0, capacity, {1}, {});
  }
  EXPECT_GT(calls, 1);
  EXPECT_EQ(result.status, whole);
}

TEST(LazyEngine, GivesTheSameAnswerAndTheSameEffortEachTime) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Problem problem = DrawTight(seed, 30);
    search::engines::lazy::LazyOptions options;
    options.seed = seed;
    const Result first = Solve(problem, options);
    const Result second = Solve(problem, options);
    EXPECT_EQ(first.status, second.status);
    EXPECT_EQ(first.statistics.conflicts, second.statistics.conflicts);
    EXPECT_EQ(first.statistics.nodes, second.statistics.nodes);
    ASSERT_EQ(first.allocation.has_value(), second.allocation.has_value());
    if (first.allocation) {
      EXPECT_EQ(first.allocation->offsets, second.allocation->offsets);
    }
  }
}

// One session that sweeps must answer like fresh sessions, up, down, with the capacity assumed or
// constant.
TEST(LazyEngine, ASweepOfCapacitiesEqualsFreshSessions) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Problem problem = DrawTight(seed, 14);
    for (const bool assumed : {false, true}) {
      search::engines::lazy::LazyOptions options;
      options.assume_capacity = assumed;
      const auto session = search::engines::lazy::LazyEngine(options).Open(problem, nullptr);
      for (const Bytes delta : {20, 4, -1, 8, 0, 2, 1, 0}) {
        const Bytes capacity = problem.memories[0].capacity + delta;
        const Result swept = session->Solve(0, capacity, {}, {});
        const Result fresh = search::engines::lazy::LazyEngine(options)
                                 .Open(problem, nullptr)
                                 ->Solve(0, capacity, {}, {});
        ASSERT_EQ(swept.status, fresh.status) << seed << " " << delta;
        if (swept.allocation) {
          EXPECT_TRUE(problem::Validate(problem, *swept.allocation, capacity).empty());
        }
      }
    }
  }
}

TEST(LazyEngine, RemembersThatALargerCapacityWasRefuted) {
  Problem problem = DrawTight(1, 12);
  const Bytes load = problem.memories[0].capacity;
  const auto session = search::engines::lazy::LazyEngine().Open(problem, nullptr);
  EXPECT_EQ(session->Solve(0, load - 1, {}, {}).status, Status::kInfeasible);
  EXPECT_NE(session->Solve(0, load + 50, {}, {}).status, Status::kInfeasible);
  const Result again = session->Solve(0, load - 2, {}, {});
  EXPECT_EQ(again.status, Status::kInfeasible);
  EXPECT_EQ(again.statistics.conflicts, 0);
}

TEST(LazyEngine, TriesHintsFirst) {
  Problem problem = DrawTight(1, 1);
  problem.buffers[0].size = 10;
  problem.buffers[0].hint = 30;
  problem.memories[0].capacity = 200;
  EXPECT_EQ(Solve(problem).allocation->offsets[0], 30);
  search::engines::lazy::LazyOptions deaf;
  deaf.follow_hints = false;
  EXPECT_EQ(Solve(problem, deaf).allocation->offsets[0], 0);
}

TEST(LazyEngine, ACapacityBeyondAllSizesIsNoOverflow) {
  Problem problem = DrawTight(2, 20);
  problem.memories[0].capacity = base::kMaxTotal;
  EXPECT_EQ(Solve(problem).status, Status::kFeasible);
}

// Each of the two would have to lie directly above the other, whatever the capacity.
TEST(LazyEngine, CyclicTiesAreRefutedImmediately) {
  Problem problem = DrawTight(2, 2);
  problem.memories[0].capacity = Bytes{1} << 50;
  problem.relations = {{problem::RelationKind::kAdjacent, 0, 1, 0},
                       {problem::RelationKind::kAdjacent, 1, 0, 0}};
  const Result result = Solve(problem);
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.statistics.conflicts, 0);
}

TEST(LazyEngine, RefusesAddressesThatCouldOverflow) {
  Problem problem = DrawTight(2, 2);
  problem.buffers[0].size = base::kMaxTotal / 2;
  const Result result = Solve(problem);
  EXPECT_EQ(result.status, Status::kUnsupported);
  EXPECT_THAT(result.reason, HasSubstr("2^60"));
}

TEST(LazyEngine, RefusesWhatItCannotHonourByName) {
  Problem problem = DrawTight(1, 2);
  problem.memories[0].banks = {{"left", {0, 60}, {}}, {"right", {60, 120}, {}}};
  problem.buffers[1].allowed_banks = {1};
  EXPECT_EQ(Solve(problem).status, Status::kUnsupported);
  EXPECT_THAT(Solve(problem).reason, HasSubstr("buffer '1'"));
  problem.buffers[1].allowed_banks = {0, 1};
  EXPECT_EQ(Solve(problem).status, Status::kFeasible);
  problem.relations = {{problem::RelationKind::kSameBank, 0, 1, 0}};
  EXPECT_EQ(Solve(problem).status, Status::kUnsupported);
}

TEST(LazyEngine, RefusesModesThatRestrictAndKeepsToOneThatDoesNot) {
  Problem problem = DrawTight(1, 1);
  problem.memories[0].banks = {{"only", {0, 60}, {}}};
  problem.memories[0].modes = {{"off", {{true, {}}}},
                               {"on", {{false, {{"", problem::AccessKind::kRead}}}}}};
  const problem::Step step = problem.buffers[0].lifespans[0].lower;
  problem.buffers[0].accesses = {{step, "", problem::AccessKind::kRead}};
  const Result result = Solve(problem);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_TRUE(problem::Validate(problem, *result.allocation, problem.memories[0].capacity).empty());
  problem.buffers[0].accesses = {{step, "", problem::AccessKind::kWrite}};
  EXPECT_EQ(Solve(problem).status, Status::kUnsupported);
}

TEST(LazyEngine, SaysThatACandidateDoesNotExist) {
  const Problem problem = DrawTight(1, 2);
  const problem::Ladder ladder{{{"only", {1, 1}}}};
  EXPECT_EQ(
      search::engines::lazy::LazyEngine().Open(problem, &ladder)->Solve(1, 100, {}, {}).status,
      Status::kInvalid);
}

}  // namespace
}  // namespace tessera::encoder

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/validator.h"

// The promises of every engine behind problem::Engine, in addition to right answers.
namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

struct Party {
  std::string name;
  std::shared_ptr<problem::Engine> engine;
};

class Promise : public testing::TestWithParam<Party> {
 protected:
  Result Solve(const Problem& problem, const base::Budget& budget = {}) const {
    return GetParam()
        .engine->Open(problem, nullptr)
        ->Solve(0, problem.memories[0].capacity, budget, stop_);
  }

  static Problem Together(int count, Bytes size, Bytes capacity) {
    Problem problem;
    problem.memories.emplace_back().capacity = capacity;
    for (int i = 0; i < count; ++i) {
      problem::Buffer& buffer = problem.buffers.emplace_back();
      buffer.id = std::to_string(i);
      buffer.size = size;
      buffer.lifespans = {{0, 1}};
    }
    return problem;
  }

  // There are 21 bytes on either side of the reserved one. They hold ten buffers of two bytes each,
  // and there are 21 buffers: infeasible, though the load fits, and without a short proof by
  // resolution (pigeonhole principle).
  static Problem Pigeons() {
    Problem problem = Together(21, 2, 43);
    problem.memories[0].reserved = {{{21, 22}, "vectors"}};
    return problem;
  }

  base::Stop stop_;
};

TEST_P(Promise, AnEmptyProblemIsFeasible) {
  const Result result = Solve(Together(0, 1, 0));
  EXPECT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.peak, 0);
  EXPECT_TRUE(result.allocation->offsets.empty());
}

TEST_P(Promise, NamesItselfAndReportsThePeak) {
  const Result result = Solve(Together(3, 16, 50));
  EXPECT_EQ(result.engine, GetParam().engine->Name());
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.peak, 48);
  EXPECT_EQ(result.lower_bound, 48);
}

TEST_P(Promise, ALoadBeyondTheCapacityIsRefutedWithItsReason) {
  const Result result = Solve(Together(3, 16, 47));
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.lower_bound, 48);
  EXPECT_NE(result.reason.find("48 bytes"), std::string::npos) << result.reason;
}

TEST_P(Promise, ASpentBudgetIsUnknownNotInfeasible) {
  const Result result = Solve(Pigeons(), {.units = 50});
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_FALSE(result.reason.empty());
  EXPECT_FALSE(result.allocation.has_value());
}

TEST_P(Promise, ADeadlineEndsTheWork) {
  const Problem problem = Pigeons();
  const base::Stop soon(base::Stop::Clock::now() + std::chrono::milliseconds(50));
  const Result result = GetParam().engine->Open(problem, nullptr)->Solve(0, 43, {}, soon);
  EXPECT_EQ(result.status, Status::kUnknown);
}

TEST_P(Promise, AStopBeforehandIsObeyed) {
  stop_.Request();
  EXPECT_EQ(Solve(Together(3, 16, 48)).status, Status::kUnknown);
}

TEST_P(Promise, ASessionSurvivesASpentBudget) {
  const Problem problem = Pigeons();
  const auto session = GetParam().engine->Open(problem, nullptr);
  EXPECT_EQ(session->Solve(0, 43, {.units = 20}, stop_).status, Status::kUnknown);
  EXPECT_EQ(session->Solve(0, 64, {}, stop_).status, Status::kFeasible);
}

TEST_P(Promise, HugeAddressesDoNotWrap) {
  constexpr Bytes kHuge = (Bytes{1} << 61) - 1;
  Problem problem = Together(2, kHuge, Bytes{1} << 62);
  problem.buffers[0].alignment = Bytes{1} << 20;
  problem.buffers[1].alignment = 3;
  const Result result = Solve(problem);
  ASSERT_EQ(result.status, Status::kFeasible) << result.reason;
  EXPECT_TRUE(problem::Validate(problem, *result.allocation, problem.memories[0].capacity).empty());
}

// `first` must start at 1: up(first + 4) = 8 leaves it 1 to 4, and `tail`, eight bytes above it,
// ends at 13 at the latest. All given sizes, alignments above 1 and offsets are multiples of 4, but
// no solution is.
TEST_P(Promise, AnAlignedNeighbourMayNeedSingleBytes) {
  Problem problem = Together(4, 4, 13);
  enum { kFirst, kNext, kBlock, kTail };
  problem.buffers[kNext].alignment = 4;
  problem.buffers[kBlock].offset = 4;
  problem.buffers[kNext].lifespans = problem.buffers[kBlock].lifespans = {{1, 2}};
  problem.relations = {{problem::RelationKind::kAdjacent, kFirst, kNext, 0},
                       {problem::RelationKind::kColocate, kFirst, kTail, 8}};
  const Result result = Solve(problem);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.allocation->offsets, std::vector<Bytes>({1, 8, 4, 9}));
}

TEST_P(Promise, ANegativeCapacityHoldsNothing) {
  const Problem problem = Together(1, 1, 8);
  EXPECT_EQ(GetParam().engine->Open(problem, nullptr)->Solve(0, -1, {}, stop_).status,
            Status::kInfeasible);
}

TEST_P(Promise, EqualQuestionsGiveEqualAnswers) {
  const Problem problem = Together(12, 3, 40);
  EXPECT_EQ(Solve(problem).allocation->offsets, Solve(problem).allocation->offsets);
}

// The schedule has one mode for each of the 7 steps of the loop, and none for a step behind it.
TEST_P(Promise, SchedulesCoverTheHorizon) {
  Problem problem = Together(1, 1, 4);
  problem.loops = {{-2, 5, {5}}};
  problem.memories[0].banks = {{"a", {0, 4}, {}}};
  problem.memories[0].modes = {{"only", {{false, {}}}}};
  const Result result = Solve(problem);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.allocation->modes,
            std::vector<problem::ModeSchedule>({problem::ModeSchedule(7, 0)}));
}

// 40 buffers that live together take thousands of constraints. A stop at any of the first polls may
// come while they are loaded. The same session then answers as a fresh one does.
TEST_P(Promise, ASessionThatWasStoppedGoesOn) {
  const Problem problem = Together(40, 1, 40);
  for (int64_t k = 1; k <= 5; ++k) {
    const auto session = GetParam().engine->Open(problem, nullptr);
    const base::Stop at_poll(base::Stop::AtPoll{k});
    const Result stopped = session->Solve(0, 40, {}, at_poll);
    EXPECT_NE(stopped.status, Status::kInfeasible) << k;
    const base::Stop never;
    const Result result = session->Solve(0, 40, {}, never);
    ASSERT_EQ(result.status, Status::kFeasible) << k << ": " << result.reason;
    EXPECT_TRUE(Validate(problem, *result.allocation, 40).empty());
  }
}

// Without refinements: with them, interchangeable buffers make the problem easy.
INSTANTIATE_TEST_SUITE_P(
    Engines, Promise,
    testing::Values(
        Party{"order", std::make_shared<sat::SatEngine>(sat::SatOptions{
                           0, sat::IntegerEncoding::kOrder, {}, formulation::Refinements::None()})},
        Party{"bits", std::make_shared<sat::SatEngine>(sat::SatOptions{
                          0, sat::IntegerEncoding::kBits, {}, formulation::Refinements::None()})},
        Party{"z3", std::make_shared<smt::Z3Engine>()}),
    [](const testing::TestParamInfo<Party>& info) { return info.param.name; });

TEST(SatEngine, TriesHintsFirst) {
  Problem problem;
  problem.memories.emplace_back().capacity = 64;
  for (const Bytes hint : {40, 8, 24}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = std::to_string(hint);
    buffer.size = 8;
    buffer.lifespans = {{0, 1}};
    buffer.hint = hint;
  }
  const base::Stop stop;
  const Result result = sat::SatEngine().Open(problem, nullptr)->Solve(0, 64, {}, stop);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.allocation->offsets, std::vector<Bytes>({40, 8, 24}));
}

}  // namespace
}  // namespace tessera::encoder

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/portfolio.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "random_instance.h"
#include "scripted_engine.h"
#include "tessera/base/process.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/local_search/local_search.h"

namespace tessera::search {
namespace {

using problem::Problem;
using problem::Result;
using problem::Session;
using problem::Status;
using testing::HasSubstr;

const engines::greedy::GreedyEngine kGreedy;
const engines::canonical::CanonicalEngine kCanonical;

Result MustAllocate(const Problem& problem, std::vector<const problem::Engine*> engines,
                    const allocate::AllocateOptions& options) {
  auto result = allocate::Allocate(problem, nullptr, 0, engines, options);
  EXPECT_TRUE(result.has_value());
  return result ? *result : Result{};
}

allocate::AllocateOptions Within(problem::Bytes capacity) {
  allocate::AllocateOptions options;
  options.capacity = capacity;
  return options;
}

// The blobs of the patent's first figure: the load is 10, and so is the least peak.
Problem RoomyPatentFigure() {
  return MakeProblem({MakeBuffer("A", 1, 3, 4), MakeBuffer("B", 1, 4, 3), MakeBuffer("C", 2, 4, 2),
                      MakeBuffer("D", 3, 4, 5)},
                     64);
}

TEST(Portfolio, AMemoryLimitThatIsExceededAlreadyIsSaid) {
  base::Stop stop;
  stop.LimitMemory(1);
  allocate::AllocateOptions options;
  options.stop = &stop;
  const Result result = MustAllocate(RoomyPatentFigure(), {&kGreedy}, options);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_THAT(result.reason, HasSubstr("memory limit"));
}

// Canonical search would need more than its share for three million pairs; greedy orders need no
// pairs.
TEST(Portfolio, AMemoryLimitThatIsTooSmallForAnEngineIsSaid) {
  base::Random random(3);
  std::vector<problem::Buffer> buffers;
  for (int i = 0; i < 4000; ++i) {
    const int64_t lower = random.Uniform(0, 2000);
    buffers.push_back(MakeBuffer("b" + std::to_string(i), lower, lower + random.Uniform(1, 800),
                                 random.Uniform(1, 1000)));
  }
  const Problem problem = MakeProblem(buffers, int64_t{1} << 40);
  base::Stop stop;
  stop.LimitMemory(int64_t{512} << 20);
  allocate::AllocateOptions options;
  options.stop = &stop;
  const Result result = MustAllocate(problem, {&kGreedy, &kCanonical}, options);
  EXPECT_EQ(result.status, Status::kFeasible);
  EXPECT_THAT(result.reason, HasSubstr("memory limit"));
  EXPECT_TRUE(stop.HasCutOff());
}

TEST(Allocate, MinimisesToTheBruteForceMinimum) {
  base::Random random(51);
  int lifted = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem = RandomInstance(random);
    problem.memories[0].capacity = 16;
    const auto least = LeastPeakByBruteForce(problem, 16);
    const Result result = MustAllocate(problem, {&kGreedy, &kCanonical}, {});
    if (!least) {
      ASSERT_EQ(result.status, Status::kInfeasible) << "round " << round;
      continue;
    }
    ASSERT_EQ(result.status, Status::kOptimal) << "round " << round;
    ASSERT_EQ(result.peak, least) << "round " << round;
    ASSERT_EQ(result.lower_bound, *least) << "round " << round;
    lifted += result.reason.find("proven impossible") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(lifted, 5);
}

TEST(Allocate, ReportsWhichBuffersDoNotFitTogether) {
  const Problem problem = MakeProblem(
      {MakeBuffer("b1", 0, 4, 4), MakeBuffer("b2", 3, 5, 5), MakeBuffer("b3", 3, 9, 5)}, 64);
  const Result result = MustAllocate(problem, {&kGreedy}, Within(12));
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.reason,
            "at step 3 the buffers b1, b2, b3 need 14 bytes together; the memory holds 12");
  EXPECT_EQ(result.lower_bound, 14);
}

TEST(Allocate, DecidesThePatentsFigureWhereGreedyMayFail) {
  const Result result = MustAllocate(RoomyPatentFigure(), {&kGreedy, &kCanonical}, Within(10));
  EXPECT_EQ(result.status, Status::kOptimal);
  EXPECT_EQ(result.peak, 10);
}

TEST(Allocate, RoutesAroundAnEngineThatCannotHonourTheProblem) {
  const ScriptedEngine shy("shy", Answer(Status::kUnsupported, "ports"));
  const Result result = MustAllocate(RoomyPatentFigure(), {&shy, &kCanonical}, Within(12));
  EXPECT_EQ(result.engine, "canonical");
  const Result none = MustAllocate(RoomyPatentFigure(), {&shy}, Within(12));
  EXPECT_EQ(none.status, Status::kUnsupported);
  EXPECT_EQ(none.reason, "ports");
}

TEST(Allocate, ALimitIsUnknownNeverInfeasible) {
  const ScriptedEngine lost("lost", Answer(Status::kUnknown, "limit"));
  const Result result = MustAllocate(RoomyPatentFigure(), {&lost}, Within(12));
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_EQ(result.reason, "limit");
}

// Stacked without shared addresses, the buffers of the figure need 14; below that the engine gives
// up. The bound stays 10, so 14 is not optimal.
TEST(Allocate, APeakAboveTheBoundIsOptimalOnlyWhenProven) {
  Result stacked = Answer(Status::kFeasible);
  stacked.allocation = problem::Allocation{{0, 4, 7, 9}, {{}}};
  const auto script = [&](Status below) {
    return [stacked, below](problem::Bytes capacity) {
      return capacity >= 14 ? stacked : Answer(below);
    };
  };
  const ScriptedEngine weary("weary", script(Status::kUnknown));
  const Result open = MustAllocate(RoomyPatentFigure(), {&weary}, {});
  EXPECT_EQ(open.status, Status::kFeasible);
  EXPECT_EQ(open.peak, 14);
  EXPECT_EQ(open.lower_bound, 10);
  EXPECT_EQ(open.reason, "no engine could decide a lower peak");

  const ScriptedEngine prover("prover", script(Status::kInfeasible));
  const Result closed = MustAllocate(RoomyPatentFigure(), {&prover}, {});
  EXPECT_EQ(closed.status, Status::kOptimal);
  EXPECT_EQ(closed.lower_bound, 14);
  EXPECT_EQ(closed.reason, "every lower peak is proven impossible by prover");

  const ScriptedEngine almost("almost", [&](problem::Bytes capacity) {
    return capacity >= 14 ? stacked
                          : Answer(capacity < 13 ? Status::kInfeasible : Status::kUnknown);
  });
  const Result byte_short = MustAllocate(RoomyPatentFigure(), {&almost}, {});
  EXPECT_EQ(byte_short.status, Status::kFeasible);
  EXPECT_EQ(byte_short.lower_bound, 13);
}

// One buffer of 4 bytes must lie at 700 000. Only the engine knows that, no bound does, and there
// are as many capacities to ask about.
TEST(Allocate, CrossesAWideGapInFewQuestions) {
  constexpr problem::Bytes kPlace = 700'000;
  Problem problem = MakeProblem({MakeBuffer("A", 0, 1, 4)}, 1 << 20);
  problem.memories[0].banks.push_back({"all", {0, 1 << 20}, {}});  // so all addresses are asked for
  for (const size_t engines : {1, 3}) {
    int questions = 0;
    const ScriptedEngine picky("picky", [&questions](problem::Bytes capacity) {
      ++questions;
      Result result = Answer(capacity < kPlace + 4 ? Status::kInfeasible : Status::kFeasible);
      if (result.status == Status::kFeasible)
        result.allocation = problem::Allocation{{capacity - 4}, {}};
      return result;
    });
    allocate::AllocateOptions options;
    options.minimize = true;
    options.capacity = problem.memories[0].capacity;
    const Result result =
        MustAllocate(problem, std::vector<const problem::Engine*>(engines, &picky), options);
    EXPECT_EQ(result.status, Status::kOptimal);
    EXPECT_EQ(result.peak, kPlace + 4);
    EXPECT_LE(questions, 200);
  }
}

// Without a capacity of the user, engines are asked for no more than the stack of all buffers above
// those with offsets and above reserved ranges.
class StackOfAllBuffers : public testing::Test {
 protected:
  StackOfAllBuffers() { problem_.memories[0].alignment = 4; }

  void ExpectMostAsked(problem::Bytes expected) {
    problem::Bytes most = 0;
    const ScriptedEngine modest("modest", [&](problem::Bytes capacity) {
      most = std::max(most, capacity);
      Result result = Answer(Status::kFeasible);
      result.allocation = problem::Allocation{{0, 0}, {}};
      for (size_t i = 0; i < problem_.buffers.size(); ++i)
        result.allocation->offsets[i] = problem_.buffers[i].offset.value_or(0);
      return result;
    });
    MustAllocate(problem_, {&modest}, {});
    EXPECT_EQ(most, expected);
  }

  Problem problem_ = MakeProblem({MakeBuffer("A", 0, 1, 5), MakeBuffer("B", 2, 3, 3)}, 1 << 20);
};

TEST_F(StackOfAllBuffers, IsTheMostThatEnginesAreAskedFor) { ExpectMostAsked(11); }

TEST_F(StackOfAllBuffers, BeginsAboveFixedBuffers) {
  problem_.buffers[1].offset = 40;
  ExpectMostAsked(49);
}

TEST_F(StackOfAllBuffers, BeginsAboveReservedRanges) {
  problem_.memories[0].reserved.push_back({{64, 96}, ""});
  ExpectMostAsked(107);
}

TEST(Allocate, MinimisingEndsWithItsBudget) {
  const ScriptedEngine endless("endless", [](problem::Bytes capacity) {
    Result result = Answer(capacity >= 14 ? Status::kFeasible : Status::kUnknown);
    result.statistics.nodes = 50'000;
    if (capacity >= 14) result.allocation = problem::Allocation{{0, 4, 7, 9}, {{}}};
    return result;
  });
  allocate::AllocateOptions options;
  options.budget.units = 200'000;
  const Result result = MustAllocate(RoomyPatentFigure(), {&endless}, options);
  EXPECT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.reason, "the budget was spent before the least peak was proven");
  EXPECT_EQ(result.statistics.nodes, 200'000);
}

TEST(Allocate, AWrongAllocationIsAnErrorNotAnAnswer) {
  Result wrong = Answer(Status::kFeasible);
  wrong.allocation = problem::Allocation{{0, 0, 0, 0}, {{}}};
  const ScriptedEngine liar("liar", wrong);
  const std::vector<const problem::Engine*> engines = {&liar};
  const auto result = allocate::Allocate(RoomyPatentFigure(), nullptr, 0, engines, Within(12));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "the engine 'liar' returned a wrong allocation");
}

TEST(Allocate, AnEngineThatClaimsSuccessMustShowAnAllocation) {
  const ScriptedEngine boaster("boaster", Answer(Status::kFeasible));
  const std::vector<const problem::Engine*> engines = {&boaster};
  const auto result = allocate::Allocate(RoomyPatentFigure(), nullptr, 0, engines, Within(12));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().found, "no allocation");
}

TEST(Allocate, RefusesAMalformedProblem) {
  Problem problem = RoomyPatentFigure();
  problem.buffers[1].size = 0;
  const Result result = MustAllocate(problem, {&kCanonical}, Within(12));
  EXPECT_EQ(result.status, Status::kInvalid);
  EXPECT_THAT(result.reason, HasSubstr("/buffers/1"));
}

TEST(Allocate, AStopRequestedBeforehandIsUnknown) {
  base::Stop stop;
  stop.Request();
  allocate::AllocateOptions options = Within(12);
  options.stop = &stop;
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&kGreedy, &kCanonical}, options).status,
            Status::kUnknown);
}

// Two complete engines fill both lanes; an engine that only finds placements joins them.
std::vector<const problem::Engine*> BothLanes() {
  static const engines::canonical::CanonicalEngine reshuffled(7);
  static const engines::local_search::LocalSearchEngine local_search;
  return {&kGreedy, &kCanonical, &reshuffled, &local_search};
}

bool SameBytes(const Result& a, const Result& b) {
  return a.status == b.status && a.peak == b.peak && a.lower_bound == b.lower_bound &&
         a.engine == b.engine && a.reason == b.reason && a.statistics.nodes == b.statistics.nodes &&
         a.statistics.conflicts == b.statistics.conflicts &&
         a.allocation.has_value() == b.allocation.has_value() &&
         (!a.allocation || a.allocation->offsets == b.allocation->offsets);
}

// The engine that decides is content with 14. The engine that only finds placements comes down from
// there alone.
TEST(Allocate, AnEngineThatOnlyFindsLowersThePeak) {
  Result stacked = Answer(Status::kFeasible);
  stacked.allocation = problem::Allocation{{0, 4, 7, 9}, {{}}};
  const ScriptedEngine content("content", [&](problem::Bytes capacity) {
    return capacity >= 14 ? stacked : Answer(Status::kUnknown);
  });
  const engines::local_search::LocalSearchEngine local_search;
  for (const bool both_lanes : {false, true}) {
    std::vector<const problem::Engine*> engines = {&content, &local_search};
    if (both_lanes) engines = {&content, &content, &content, &local_search};
    const Result result = MustAllocate(RoomyPatentFigure(), engines, {});
    EXPECT_EQ(result.status, Status::kOptimal);
    EXPECT_EQ(result.peak, 10);
    EXPECT_EQ(result.engine, "local-search");
  }
}

TEST(Allocate, AnEngineThatOnlyFindsDecidesWhereItIsAlone) {
  const engines::local_search::LocalSearchEngine local_search;
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&local_search}, Within(10)).status,
            Status::kOptimal);
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&local_search}, {}).peak, 10);
}

// The engine that decides finds nothing. After long enough the portfolio runs the engine that only
// finds placements.
TEST(Allocate, AnEngineThatOnlyFindsHelpsToDecideLate) {
  const ScriptedEngine lost("lost", [](problem::Bytes) {
    Result result = Answer(Status::kUnknown, "limit");
    result.statistics.nodes = 1'000'000;
    return result;
  });
  const engines::local_search::LocalSearchEngine local_search;
  allocate::AllocateOptions options = Within(10);
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&lost, &local_search}, options).engine,
            "local-search");
  options.budget.units = 1'000'000;
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&lost, &local_search}, options).status,
            Status::kUnknown);
}

// Hard enough for several rounds, with a budget that ends some of them early.
TEST(Allocate, OneTwoAndEightThreadsGiveTheSameBytes) {
  int open = 0, closed = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    for (const bool minimize : {false, true}) {
      const Problem problem = problem::generate::MakeBroken({}, seed);
      allocate::AllocateOptions options =
          Within(problem.memories[0].capacity + (minimize ? 1000 : 0));
      options.minimize = minimize;
      options.budget.units = 20'000;
      const Result one = MustAllocate(problem, BothLanes(), options);
      for (const int threads : {2, 8}) {
        options.threads = threads;
        const Result more = MustAllocate(problem, BothLanes(), options);
        ASSERT_TRUE(SameBytes(one, more)) << "seed " << seed << ", " << threads
                                          << " threads: " << one.reason << " / " << more.reason;
      }
      const bool proven = one.status == Status::kOptimal || one.status == Status::kInfeasible;
      ++(proven || (!minimize && one.allocation) ? closed : open);
    }
  }
  EXPECT_GE(open, 2);
  EXPECT_GE(closed, 2);
}

TEST(Allocate, TheSecondLaneAnswersWhereTheFirstCannot) {
  const ScriptedEngine shy("shy", Answer(Status::kUnsupported, "ports"));
  const ScriptedEngine lost("lost", Answer(Status::kUnknown, "limit"));
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&shy, &lost, &kCanonical}, Within(12)).engine,
            "canonical");
}

TEST(Allocate, AReserveIsAskedOnlyWhereTheOthersOfItsLaneRefuseOrGiveUp) {
  const ScriptedEngine shy("shy", Answer(Status::kUnsupported, "ports"));
  const ScriptedEngine lost("lost", Answer(Status::kUnknown, "no order fits"));
  Result limit = Answer(Status::kUnknown, "limit");
  limit.statistics.nodes = 1'000'000;
  const ScriptedEngine busy("busy", limit);
  allocate::AllocateOptions options = Within(12);
  options.budget.units = 1000;
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&shy, &busy, &lost, &kCanonical}, options).status,
            Status::kUnknown);
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&shy, &lost, &lost, &kCanonical}, options).engine,
            "canonical");
  EXPECT_EQ(MustAllocate(RoomyPatentFigure(), {&shy, &shy, &lost, &kCanonical}, options).engine,
            "canonical");
}

TEST(Allocate, AWrongAllocationOfTheSecondLaneIsAnErrorToo) {
  Result wrong = Answer(Status::kFeasible);
  wrong.allocation = problem::Allocation{{0, 0, 0, 0}, {{}}};
  const ScriptedEngine lost("lost", Answer(Status::kUnknown, "limit"));
  const ScriptedEngine liar("liar", wrong);
  const std::vector<const problem::Engine*> engines = {&lost, &lost, &liar};
  for (const int threads : {1, 2}) {
    allocate::AllocateOptions options = Within(12);
    options.threads = threads;
    const auto result = allocate::Allocate(RoomyPatentFigure(), nullptr, 0, engines, options);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().message, "the engine 'liar' returned a wrong allocation");
  }
}

// With no budget may the portfolio call a Problem infeasible that brute force can place.
TEST(Allocate, NoBudgetTurnsALimitIntoAProof) {
  base::Random random(53);
  int limited = 0;
  for (int round = 0; round < 300; ++round) {
    const Problem problem = RandomInstance(random);
    const problem::Bytes capacity = problem.memories[0].capacity;
    const bool fits = FitsByBruteForce(problem, capacity);
    allocate::AllocateOptions options = Within(capacity);
    options.budget.units = random.Uniform(0, 12);
    options.threads = 2;
    const Result result = MustAllocate(problem, BothLanes(), options);
    limited += result.status == Status::kUnknown ? 1 : 0;
    ASSERT_FALSE(fits && result.status == Status::kInfeasible) << "round " << round;
    ASSERT_FALSE(!fits && result.allocation) << "round " << round;
  }
  EXPECT_GE(limited, 30);
}

TEST(Allocate, UsesTheSizesOfTheCandidate) {
  const problem::Ladder ladder{{{"small", {1, 1, 1, 1}}, {"full", {4, 3, 2, 5}}}};
  const std::vector<const problem::Engine*> engines = {&kGreedy, &kCanonical};
  const auto small = allocate::Allocate(RoomyPatentFigure(), &ladder, 0, engines, {});
  const auto full = allocate::Allocate(RoomyPatentFigure(), &ladder, 1, engines, {});
  EXPECT_EQ(small->peak, 3);
  EXPECT_EQ(full->peak, 10);
  EXPECT_EQ(allocate::Allocate(RoomyPatentFigure(), &ladder, 2, engines, {})->status,
            Status::kInvalid);
}

TEST(Allocate, ReportsEachImprovement) {
  std::vector<std::string> lines;
  allocate::AllocateOptions options;
  options.progress = [&](std::string_view line) { lines.emplace_back(line); };
  const Result result = MustAllocate(RoomyPatentFigure(), {&kGreedy, &kCanonical}, options);
  EXPECT_THAT(lines, testing::Contains(HasSubstr("peak " + std::to_string(*result.peak))));
  EXPECT_THAT(lines.back(), testing::StartsWith("greedy: in all "));
}

TEST(Allocate, SameInputSameAnswer) {
  base::Random random(52);
  for (int round = 0; round < 100; ++round) {
    const Problem problem = RandomInstance(random);
    const Result first = MustAllocate(problem, {&kGreedy, &kCanonical}, {});
    const Result second = MustAllocate(problem, {&kGreedy, &kCanonical}, {});
    ASSERT_EQ(first.status, second.status);
    ASSERT_EQ(first.statistics.nodes, second.statistics.nodes);
    if (first.allocation) {
      ASSERT_EQ(first.allocation->offsets, second.allocation->offsets);
    }
  }
}

}  // namespace
}  // namespace tessera::search

#include "tessera/search/allocate/portfolio.h"

#include <gmock/gmock.h>

#include <functional>

#include "random_instance.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/greedy.h"

namespace tessera::search {
namespace {

using problem::Problem;
using problem::Result;
using problem::Session;
using problem::Status;
using testing::HasSubstr;

const GreedyEngine kGreedy;
const CanonicalEngine kCanonical;

Result MustAllocate(const Problem& problem, std::vector<const problem::Engine*> engines,
                    const AllocateOptions& options) {
  auto result = Allocate(problem, nullptr, 0, engines, options);
  EXPECT_TRUE(result.has_value());
  return result ? *result : Result{};
}

AllocateOptions Within(problem::Bytes capacity) {
  AllocateOptions options;
  options.capacity = capacity;
  return options;
}

// The blobs of the patent's first figure: the load is 10, and so is the least peak.
Problem PatentFigure() {
  return MakeProblem({MakeBuffer("A", 1, 3, 4), MakeBuffer("B", 1, 4, 3), MakeBuffer("C", 2, 4, 2),
                      MakeBuffer("D", 3, 4, 5)},
                     64);
}

// An engine whose answers a test chooses.
class ScriptedEngine final : public problem::Engine {
 public:
  using Script = std::function<Result(problem::Bytes capacity)>;
  ScriptedEngine(std::string name, Script script) : name_(std::move(name)), script_(std::move(script)) {}
  ScriptedEngine(std::string name, const Result& answer)
      : ScriptedEngine(std::move(name), [answer](problem::Bytes) { return answer; }) {}

  std::string_view Name() const override { return name_; }
  std::unique_ptr<Session> Open(const Problem&, const problem::Ladder*) const override {
    return std::make_unique<Scripted>(script_);
  }

 private:
  class Scripted final : public Session {
   public:
    explicit Scripted(Script script) : script_(std::move(script)) {}
    Result Solve(size_t, problem::Bytes capacity, const base::Budget&, const base::Stop&) override {
      return script_(capacity);
    }

   private:
    Script script_;
  };
  std::string name_;
  Script script_;
};

Result Answer(Status status, std::string reason = {}) {
  Result result;
  result.status = status;
  result.reason = std::move(reason);
  return result;
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

TEST(Allocate, TellsWhichBuffersDoNotFitTogether) {
  const Problem problem =
      MakeProblem({MakeBuffer("b1", 0, 4, 4), MakeBuffer("b2", 3, 5, 5), MakeBuffer("b3", 3, 9, 5)}, 64);
  const Result result = MustAllocate(problem, {&kGreedy}, Within(12));
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.reason, "at step 3 the buffers b1, b2, b3 need 14 bytes together; the memory holds 12");
  EXPECT_EQ(result.lower_bound, 14);
}

TEST(Allocate, DecidesThePatentsFigureWhereGreedyMayFail) {
  const Result result = MustAllocate(PatentFigure(), {&kGreedy, &kCanonical}, Within(10));
  EXPECT_EQ(result.status, Status::kOptimal);
  EXPECT_EQ(result.peak, 10);
}

TEST(Allocate, RoutesAroundAnEngineThatCannotHonourTheProblem) {
  const ScriptedEngine shy("shy", Answer(Status::kUnsupported, "ports"));
  const Result result = MustAllocate(PatentFigure(), {&shy, &kCanonical}, Within(12));
  EXPECT_EQ(result.engine, "canonical");
  const Result none = MustAllocate(PatentFigure(), {&shy}, Within(12));
  EXPECT_EQ(none.status, Status::kUnsupported);
  EXPECT_EQ(none.reason, "ports");
}

TEST(Allocate, ALimitIsUnknownNeverInfeasible) {
  const ScriptedEngine lost("lost", Answer(Status::kUnknown, "limit"));
  const Result result = MustAllocate(PatentFigure(), {&lost}, Within(12));
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_EQ(result.reason, "limit");
}

// Stacked without sharing the figure needs 14; below that the engine gives up. The bound stays 10, so 14 is
// not optimal.
TEST(Allocate, APeakAboveTheBoundIsOptimalOnlyWhenProven) {
  Result stacked = Answer(Status::kFeasible);
  stacked.allocation = problem::Allocation{{0, 4, 7, 9}, {{}}};
  const auto script = [&](Status below) {
    return [stacked, below](problem::Bytes capacity) { return capacity >= 14 ? stacked : Answer(below); };
  };
  const ScriptedEngine weary("weary", script(Status::kUnknown));
  const Result open = MustAllocate(PatentFigure(), {&weary}, {});
  EXPECT_EQ(open.status, Status::kFeasible);
  EXPECT_EQ(open.peak, 14);
  EXPECT_EQ(open.lower_bound, 10);
  EXPECT_EQ(open.reason, "no engine could decide a lower peak");

  const ScriptedEngine prover("prover", script(Status::kInfeasible));
  const Result closed = MustAllocate(PatentFigure(), {&prover}, {});
  EXPECT_EQ(closed.status, Status::kOptimal);
  EXPECT_EQ(closed.lower_bound, 14);
  EXPECT_EQ(closed.reason, "every lower peak is proven impossible by prover");
}

TEST(Allocate, MinimisingEndsWithItsBudget) {
  const ScriptedEngine endless("endless", [](problem::Bytes capacity) {
    Result result = Answer(capacity >= 14 ? Status::kFeasible : Status::kUnknown);
    result.statistics.nodes = 50'000;
    if (capacity >= 14) result.allocation = problem::Allocation{{0, 4, 7, 9}, {{}}};
    return result;
  });
  AllocateOptions options;
  options.budget.units = 200'000;
  const Result result = MustAllocate(PatentFigure(), {&endless}, options);
  EXPECT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.reason, "the budget was spent before the least peak was proven");
  EXPECT_EQ(result.statistics.nodes, 200'000);
}

TEST(Allocate, AWrongAllocationIsAnErrorNotAnAnswer) {
  Result wrong = Answer(Status::kFeasible);
  wrong.allocation = problem::Allocation{{0, 0, 0, 0}, {{}}};
  const ScriptedEngine liar("liar", wrong);
  const std::vector<const problem::Engine*> engines = {&liar};
  const auto result = Allocate(PatentFigure(), nullptr, 0, engines, Within(12));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "the engine 'liar' returned a wrong allocation");
}

TEST(Allocate, AnEngineThatClaimsSuccessMustShowAnAllocation) {
  const ScriptedEngine boaster("boaster", Answer(Status::kFeasible));
  const std::vector<const problem::Engine*> engines = {&boaster};
  const auto result = Allocate(PatentFigure(), nullptr, 0, engines, Within(12));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().found, "no allocation");
}

TEST(Allocate, RefusesAMalformedProblem) {
  Problem problem = PatentFigure();
  problem.buffers[1].size = 0;
  const Result result = MustAllocate(problem, {&kCanonical}, Within(12));
  EXPECT_EQ(result.status, Status::kInvalid);
  EXPECT_THAT(result.reason, HasSubstr("/buffers/1"));
}

TEST(Allocate, AStopRequestedBeforehandIsUnknown) {
  base::Stop stop;
  stop.Request();
  AllocateOptions options = Within(12);
  options.stop = &stop;
  EXPECT_EQ(MustAllocate(PatentFigure(), {&kGreedy, &kCanonical}, options).status, Status::kUnknown);
}

TEST(Allocate, UsesTheSizesOfTheRung) {
  const problem::Ladder ladder{{{"small", {1, 1, 1, 1}}, {"full", {4, 3, 2, 5}}}};
  const std::vector<const problem::Engine*> engines = {&kGreedy, &kCanonical};
  const auto small = Allocate(PatentFigure(), &ladder, 0, engines, {});
  const auto full = Allocate(PatentFigure(), &ladder, 1, engines, {});
  EXPECT_EQ(small->peak, 3);
  EXPECT_EQ(full->peak, 10);
  EXPECT_EQ(Allocate(PatentFigure(), &ladder, 2, engines, {})->status, Status::kInvalid);
}

TEST(Allocate, TellsOfEachImprovement) {
  std::vector<std::string> lines;
  AllocateOptions options;
  options.progress = [&](std::string_view line) { lines.emplace_back(line); };
  const Result result = MustAllocate(PatentFigure(), {&kGreedy, &kCanonical}, options);
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), HasSubstr("peak " + std::to_string(*result.peak)));
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

// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <string>

#include "fixture.h"

// Fronts of plans, choices of buffers, and the options of plans that add to them.
namespace tessera::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Fronts, HaveNoPlanThatIsBetterThanAnother) {
  const FrontAnswer front = Must(FindFront(Chain(), Npu(), {}, 8));
  ASSERT_GE(front.points.size(), 2U);
  EXPECT_LE(front.searches, 8);
  for (size_t i = 1; i < front.points.size(); ++i) {
    const Plan& a = front.points[i - 1].plan;
    const Plan& b = front.points[i].plan;
    EXPECT_LE(a.FindMetric("latency")->value, b.FindMetric("latency")->value);
    bool is_better = false;
    for (const char* metric : {"energy", "off_chip_bytes", "peak"})
      is_better = is_better || b.FindMetric(metric)->value < a.FindMetric(metric)->value;
    EXPECT_TRUE(is_better);
  }
  // The options of a point find its plan again.
  const FrontPoint& last = front.points.back();
  PlanOptions options;
  options.minimize = {{last.metric, 1}};
  options.limits = last.limits;
  const Plan again = PlanOf(Chain(), Npu(), options);
  EXPECT_EQ(again.FindMetric(last.metric)->value, last.plan.FindMetric(last.metric)->value);
  EXPECT_THAT(front.text, HasSubstr("none better than another"));
  EXPECT_THAT(front.json, HasSubstr("tessera-front"));
}

TEST(Fronts, WithoutAPlanSayWhy) {
  PlanOptions options;
  options.limits = {{"peak", 1}};
  const FrontAnswer front = Must(FindFront(Chain(), Npu(), options, 4));
  EXPECT_THAT(front.points, IsEmpty());
  EXPECT_EQ(front.refusal.outcome, Outcome::kInfeasible);
  EXPECT_THAT(front.refusal.reason, Not(IsEmpty()));
  options.minimize = {{"latency", 1}};
  EXPECT_EQ(FindFront(Chain(), Npu(), options).Error().status, CallStatus::kBadInput);
  EXPECT_EQ(FindFront(Chain(), Npu(), {}, 0).Error().status, CallStatus::kBadInput);
}

TEST(Choices, AreOfGreatestValue) {
  // Two of three fit: b and c are worth 9, and a is without a value.
  const Problem problem = Must(Problem::Parse(
      "id,lower,upper,size,value,fallback\na,0,4,2,,\nb,0,4,4,5,\nc,0,4,4,4,\nd,0,4,4,3,1\n"));
  ChooseOptions options;
  options.capacity = 11;
  const ChooseAnswer answer = Must(Choose(problem, options));
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  EXPECT_EQ(answer.value, answer.bound);
  EXPECT_THAT(answer.chosen,
              ElementsAre(Chosen::kPlaced, Chosen::kPlaced, Chosen::kPlaced, Chosen::kFallback));
  ASSERT_TRUE(answer.allocation);
  EXPECT_TRUE(Must(Check(*answer.allocation)).accepted);
  EXPECT_THAT(answer.text, HasSubstr("value"));
  EXPECT_THAT(answer.json, HasSubstr("tessera-choice"));
  options.capacity = 1;
  EXPECT_EQ(Must(Choose(problem, options)).outcome, Outcome::kInfeasible);
  options.capacity.reset();
  EXPECT_THAT(Choose(problem, options).Error().text, HasSubstr("capacity"));
}

TEST(Choices, OfNoBuffersAreOptimal) {
  const Problem problem = Must(Problem::Make({}, 8));
  const ChooseAnswer answer = Must(Choose(problem));
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer.allocation);
  EXPECT_THAT(answer.allocation->Offsets(), IsEmpty());
}

TEST(PlanOptionsOfTheCommand, AddToThePlan) {
  PlanOptions options;
  options.sensitivity = true;
  EXPECT_THAT(PlanOf(Chain(), Npu(), options).Notes(), Contains(HasSubstr("sensitivity")));
  options.minimize = {{"energy", 1}};
  EXPECT_THAT(PlanOf(Chain(), Npu(), options).Notes(), Contains(HasSubstr("survives")));

  EXPECT_THAT(Json(PlanOf(Chain(), Npu())), Not(HasSubstr("\"lowering\"")));
  options = {};
  options.lowering = true;
  const PlanAnswer lowered = Must(MakePlan(Chain(), Npu(), options));
  ASSERT_TRUE(lowered.plan);
  EXPECT_THAT(Json(*lowered.plan), HasSubstr("\"lowering\""));
  EXPECT_THAT(lowered.no_lowering, IsEmpty());
  CheckOptions check;
  check.execute = true;
  EXPECT_TRUE(Must(Check(*lowered.plan, check)).accepted);

  options = {};
  options.off_chip = OffChip::kTileAware;
  const Plan tile_aware = PlanOf(Chain(), Npu(), options);
  EXPECT_LE(tile_aware.FindMetric("off_chip_peak")->value,
            PlanOf(Chain(), Npu()).FindMetric("off_chip_peak")->value);
  options.off_chip = static_cast<OffChip>(7);
  EXPECT_EQ(MakePlan(Chain(), Npu(), options).Error().status, CallStatus::kBadInput);
}

TEST(EvaluatedPlans, MayHaveAnotherProfileAndMeasuredTiles) {
  const Plan plan = PlanOf(Chain(), Npu());
  const Profile slow = Must(Npu().With("/memories/dram/port/read_bytes_per_cycle", "2"));
  EvaluateOptions options;
  options.move = true;
  options.profile = &slow;
  const EvaluateAnswer slower = Must(Evaluate(plan, options));
  ASSERT_TRUE(slower.plan);
  EXPECT_GT(slower.plan->FindMetric("latency")->value, plan.FindMetric("latency")->value);
  options.costs = "operator,tile,engine,cycles,pj\nx,1,npu,1,1\n";
  EXPECT_EQ(Evaluate(plan, options).Error().status, CallStatus::kBadInput);
}

TEST(Networks, TakeStoredSizes) {
  const Network small = Must(Chain().WithSizes("tensor,bytes\na.weights,100\n"));
  EXPECT_LT(PlanOf(small, Npu()).FindMetric("off_chip_bytes")->value,
            PlanOf(Chain(), Npu()).FindMetric("off_chip_bytes")->value);
  EXPECT_EQ(Chain().WithSizes("tensor,bytes\nx,100\n").Error().line, 2);
}

}  // namespace
}  // namespace tessera::tests

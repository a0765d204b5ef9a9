// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../cost/small_machine.h"
#include "search_options.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/engine_choice.h"
#include "tessera/search/partition/partition.h"

// Plans on profiles in which several engines list an operator.
namespace tessera::search {
namespace {

using hw_profiles::Profile;
using testing::IsEmpty;

// A convolution and an addition.
graph::Graph Network() {
  NetworkBuilder net;
  const int made = net.Conv(net.Input({1, 2, 8, 4}), 3, 2);
  return net.Finish(net.Add(made, made));
}

// Additions run at half a cycle for an element on "pe", and at a quarter on "vector". Both
// multiply, "vector" one number at a time.
Profile TwoEngines() {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized);
  hw_profiles::Engine vector = profile.engines.front();
  vector.name = "vector";
  vector.throughputs[0].unroll = {};
  vector.throughputs[1].cycles_per_output = 0.25;
  profile.engines.push_back(vector);
  profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute};
  return profile;
}

partition::answer::PartitionResult Search(const graph::Graph& network, const Profile& profile,
                                          const plan::Objective& objective) {
  auto result = partition::SearchPartition(network, profile, KeepingNothing(objective));
  EXPECT_TRUE(result) << base::Format(result.error());
  return *std::move(result);
}

TEST(ChosenEngines, RunEachOperatorWhereItIsCheapest) {
  const Profile profile = TwoEngines();
  const auto found = Search(Network(), profile, Minimise("latency"));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->network.operators[0].engine, "pe");
  EXPECT_EQ(found.plan->network.operators[1].engine, "vector");
  EXPECT_THAT(plan::verify::Validate(*found.plan), IsEmpty());

  graph::Graph named = Network();
  for (graph::Operator& op : named.operators) op.engine = "pe";
  const auto on_one = Search(named, profile, Minimise("latency"));
  ASSERT_TRUE(on_one.plan);
  EXPECT_LT(found.plan->totals.latency_cycles, on_one.plan->totals.latency_cycles);
  EXPECT_LT(found.plan->lower_bounds.latency_cycles, on_one.plan->lower_bounds.latency_cycles);
}

TEST(ChosenEngines, AreAPartOfTheScope) {
  const auto found = Search(Network(), TwoEngines(), Minimise("latency"));
  ASSERT_TRUE(found.plan);
  EXPECT_GT(found.plan->score, found.plan->bound);
  EXPECT_NE(found.plan->scope.engines, "");
  EXPECT_EQ(found.plan->status, "feasible");

  Profile one = TwoEngines();
  one.engines.pop_back();
  const auto on_one = Search(Network(), one, Minimise("latency"));
  ASSERT_TRUE(on_one.plan);
  EXPECT_EQ(on_one.plan->scope.engines, "");
  EXPECT_FALSE(on_one.plan->network.operators[0].engine_chosen);
}

TEST(ChosenEngines, RefuteALimitOnlyByABound) {
  const Profile profile = TwoEngines();
  const auto best = Search(Network(), profile, Minimise("latency"));
  ASSERT_TRUE(best.plan);
  plan::Objective objective = Minimise("latency");
  objective.limits["latency"] = best.plan->score - 1;
  const auto open = Search(Network(), profile, objective);
  EXPECT_FALSE(open.plan);
  EXPECT_EQ(open.status, problem::Status::kUnknown);
  objective.limits["latency"] = best.plan->bound / 4;
  EXPECT_EQ(Search(Network(), profile, objective).status, problem::Status::kInfeasible);
}

TEST(ChosenEngines, AreChosenAgainForAProfileThatLacksThem) {
  const auto found = Search(Network(), TwoEngines(), Minimise("latency"));
  ASSERT_TRUE(found.plan);
  auto draft = plan::files::ReadDraft(plan::files::WritePlanJson(*found.plan), "plan.json");
  ASSERT_TRUE(draft) << base::Format(draft.error());
  draft->profile.engines[1].name = "other";
  partition::answer::EvaluateOptions options;
  const partition::answer::PartitionOptions usual = KeepingNothing();
  options.engines = {usual.engines.begin(), usual.engines.end()};
  const auto evaluated = partition::Evaluate(*draft, options);
  ASSERT_TRUE(evaluated && evaluated->plan);
  EXPECT_EQ(evaluated->plan->network.operators[1].engine, "other");
  EXPECT_EQ(evaluated->plan->totals.latency_cycles, found.plan->totals.latency_cycles);
}

// A ratio is sought by searches with other objectives, of which each has the same engines.
TEST(ChosenEngines, AreThoseOfTheObjectiveThatWasAsked) {
  Profile profile = TwoEngines();
  profile.memories[1].leakage_mw = 3;
  profile.engines[1].mac_pj = 0.125;
  plan::Objective objective = Minimise("power");
  objective.limits["latency"] = 5000;
  const auto found = Search(Network(), profile, objective);
  ASSERT_TRUE(found.plan);
  const graph::Graph chosen = cost::WithEngines(Network(), profile, objective.weights);
  for (size_t op = 0; op < chosen.operators.size(); ++op)
    EXPECT_EQ(found.plan->network.operators[op].engine, chosen.operators[op].engine);
}

TEST(ChosenEngines, ARefutationStaysWithLimits) {
  Profile profile = TwoEngines();
  profile.memories[1].capacity_bytes = 10;
  plan::Objective objective = Minimise("latency");
  objective.limits["latency"] = 1e9;
  EXPECT_EQ(Search(Network(), profile, objective).status, problem::Status::kInfeasible);
}

}  // namespace
}  // namespace tessera::search

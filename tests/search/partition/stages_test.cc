// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../cost/small_machine.h"
#include "search_options.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/partition.h"

// Plans with subgraphs of two stages.
namespace tessera::search {
namespace {

using hw_profiles::Profile;
using testing::IsEmpty;

// A convolution and an addition of [1,2,64,8], on engines of their own.
graph::Graph ConvAndAdd() {
  NetworkBuilder net;
  const int made = net.Conv(net.Input({1, 2, 64, 8}), 1, 2);
  graph::Graph network = net.Finish(net.Add(made, made));
  network.operators[0].engine = "pe";
  network.operators[1].engine = "other";
  return network;
}

Profile Machine(int64_t capacity, bool concurrent) {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, capacity);
  profile.memories[0].port.read_bytes_per_cycle = 100;
  profile.memories[0].port.write_bytes_per_cycle = 100;
  profile.tiling.concurrent = concurrent;
  profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute};
  hw_profiles::Engine other = profile.engines.front();
  other.name = "other";
  profile.engines.push_back(other);
  return profile;
}

plan::Plan PlanOn(const Profile& profile) {
  auto result =
      partition::SearchPartition(ConvAndAdd(), profile, KeepingNothing(Minimise("latency")));
  EXPECT_TRUE(result && result->plan);
  return *std::move(result->plan);
}

TEST(Stages, RunWhereTheyGainAndFit) {
  const plan::Plan one = PlanOn(Machine(700, false));
  const plan::Plan two = PlanOn(Machine(700, true));
  EXPECT_THAT(two.notes, testing::Contains("1 subgraph runs in two stages"));
  ASSERT_EQ(one.subgraphs.size(), 1U);
  ASSERT_GT(one.subgraphs[0].tiles, 2);
  EXPECT_EQ(one.subgraphs[0].second_stage, 0);
  EXPECT_EQ(two.subgraphs[0].second_stage, 1);
  EXPECT_LT(two.totals.latency_cycles, one.totals.latency_cycles);
  EXPECT_GE(two.totals.latency_cycles, two.lower_bounds.latency_cycles);
  EXPECT_THAT(plan::verify::Validate(two), IsEmpty());
  const plan::lowering::Report report = plan::lowering::Execute(two);
  EXPECT_EQ(report.obstacle, "");
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(two.status, "feasible");
  EXPECT_NE(two.scope.policies, "");
}

TEST(Stages, AreWrittenReadAndEvaluated) {
  const plan::Plan plan = PlanOn(Machine(700, true));
  const std::string text = plan::files::WritePlanJson(plan);
  EXPECT_THAT(text, testing::HasSubstr("\"second_stage\": \"add1\""));
  const auto draft = plan::files::ReadDraft(text, "plan.json");
  ASSERT_TRUE(draft);
  partition::answer::EvaluateOptions options;
  const partition::answer::PartitionOptions usual = KeepingNothing();
  options.engines = {usual.engines.begin(), usual.engines.end()};
  const auto evaluated = partition::Evaluate(*draft, options);
  ASSERT_TRUE(evaluated && evaluated->plan);
  EXPECT_EQ(evaluated->plan->totals.latency_cycles, plan.totals.latency_cycles);
}

// The check refuses what docs/program.md 4.4.2 does not allow.
TEST(Stages, AreCheckedIndependently) {
  const plan::Plan plan = PlanOn(Machine(700, true));
  const auto refused = [](const plan::Plan& altered) {
    return !plan::verify::Validate(altered).empty();
  };
  plan::Plan altered = plan;
  altered.profile.tiling.concurrent = false;
  EXPECT_TRUE(refused(altered));
  altered = plan;
  altered.subgraphs[0].second_stage = 2;
  EXPECT_TRUE(refused(altered));
  altered = plan;
  altered.subgraphs[0].second_stage = 0;
  EXPECT_TRUE(refused(altered));
  altered = plan;
  altered.subgraphs[0].in_place = true;
  EXPECT_TRUE(refused(altered));
}

TEST(Stages, NeedSeveralEngines) {
  Profile profile = Machine(700, true);
  profile.engines.pop_back();
  graph::Graph network = ConvAndAdd();
  for (graph::Operator& op : network.operators) op.engine.clear();
  auto found = partition::SearchPartition(network, profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->plan->scope.policies, "");
  EXPECT_THAT(found->plan->notes, testing::Contains(testing::HasSubstr("'concurrent'")));
  found->plan->subgraphs[0].second_stage = 1;
  EXPECT_FALSE(plan::verify::Validate(*found->plan).empty());
}

TEST(Stages, NeedTransfersDuringComputation) {
  Profile profile = Machine(700, true);
  profile.tiling.dma = hw_profiles::DmaSteps::kSerialized;
  const plan::Plan plan = PlanOn(profile);
  EXPECT_EQ(plan.subgraphs[0].second_stage, 0);
  EXPECT_THAT(plan.notes, testing::Contains(testing::HasSubstr("'concurrent'")));
}

// Then they are not tried, and a better plan may have them.
TEST(Stages, AreLeftOutUnderConstraints) {
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("latency"));
  options.constraints = {{.kind = plan::PlanConstraintKind::kTogether,
                          .interval = {0, 1},
                          .config = {},
                          .memory = ""}};
  const auto found = partition::SearchPartition(ConvAndAdd(), Machine(700, true), options);
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->plan->subgraphs[0].second_stage, 0);
  EXPECT_EQ(found->status, problem::Status::kFeasible);
  EXPECT_NE(found->plan->scope.policies, "");
}

// Bytes and peaks are the same with one stage.
TEST(Stages, DoNotMatterWithoutTime) {
  const auto found = partition::SearchPartition(ConvAndAdd(), Machine(700, true),
                                                KeepingNothing(Minimise("off_chip_bytes")));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->status, problem::Status::kOptimal);
}

}  // namespace
}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixture.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/validator.h"

// The home of a tensor of a role with several homes: as plans state it, and as the rule decides it.
namespace tessera::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kTcm = 2;

// OneConvPlan with a third memory before DRAM for constants and maps: x 64 bytes, w 152, y 64.
Plan ListedPlan(int64_t capacity) {
  Plan plan = OneConvPlan();
  hw_profiles::Memory tcm;
  tcm.name = "tcm";
  tcm.capacity_bytes = capacity;
  plan.profile.memories.push_back(tcm);
  hw_profiles::Link link = plan.profile.links.front();
  link.name = "tcm_dma";
  (link.first == plan.profile.tile_memory ? link.second : link.first) = kTcm;
  plan.profile.links.push_back(link);
  for (const base::TensorRole role : {base::TensorRole::kConstant, base::TensorRole::kNetworkInput,
                                      base::TensorRole::kNetworkOutput}) {
    hw_profiles::RoleLayout& layout = plan.profile.roles[static_cast<size_t>(role)];
    layout.next_homes = {layout.home};
    layout.home = kTcm;
  }
  return plan;
}

// The homes of x, w and y: indices into their lists.
Plan WithHomes(Plan plan, const std::vector<int>& places) {
  for (size_t i = 0; i < places.size(); ++i) plan.network.tensors[i].home = places[i];
  return plan;
}

std::vector<std::string> FindingsOf(const Plan& plan) {
  verify::Findings findings(10);
  verify::CheckAssignment(plan, findings);
  std::vector<std::string> messages;
  for (const verify::Violation& violation : findings.Take()) messages.push_back(violation.message);
  return messages;
}

TEST(CheckAssignment, AcceptsTheHomesOfTheRule) {
  EXPECT_THAT(FindingsOf(WithHomes(ListedPlan(1000), {0, 0, 0})), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHomes(ListedPlan(64 + 64 + 160), {0, 0, 0})), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHomes(ListedPlan(64 + 64 + 159), {0, 1, 0})), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHomes(ListedPlan(64), {0, 1, 1})), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHomes(ListedPlan(63), {1, 1, 1})), IsEmpty());
}

TEST(CheckAssignment, WantsTheBytesThatARatioGives) {
  Plan plan = WithHomes(ListedPlan(1000), {0, 0, 0});
  plan.profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].stored_ratio = 0.5;
  EXPECT_THAT(FindingsOf(plan),
              ElementsAre("constant 'w' has 0 stored bytes, but the profile's ratio gives 72"));
  graph::Tensor& weights = plan.network.tensors[1];
  weights.stored_bytes = 70;  // the network's own
  EXPECT_THAT(FindingsOf(plan), IsEmpty());
  weights.stored_by_ratio = true;
  EXPECT_THAT(FindingsOf(plan),
              ElementsAre("constant 'w' has 70 stored bytes, but the profile's ratio gives 72"));
  weights.stored_bytes = 72;
  EXPECT_THAT(FindingsOf(plan), IsEmpty());
}

TEST(CheckAssignment, RefusesAnyOther) {
  EXPECT_THAT(
      FindingsOf(WithHomes(ListedPlan(1000), {0, 1, 0})),
      ElementsAre("the home of tensor 'w' is 'dram', but the profile's homes give it 'tcm'"));
  EXPECT_THAT(
      FindingsOf(WithHomes(ListedPlan(64 + 64 + 159), {0, 0, 0})),
      ElementsAre("the home of tensor 'w' is 'tcm', but the profile's homes give it 'dram'"));
  EXPECT_EQ(FindingsOf(WithHomes(ListedPlan(64), {1, 1, 0})).size(), 2U);
}

TEST(CheckAssignment, IsPartOfTheCheckOfAPlan) {
  std::vector<std::string> messages;
  for (const verify::Violation& violation :
       verify::Validate(WithHomes(ListedPlan(1000), {0, 1, 0})))
    messages.push_back(std::string(verify::NameOf(violation.kind)) + ": " + violation.message);
  EXPECT_THAT(messages, Contains(HasSubstr("memory: the home of tensor 'w' is 'dram'")));
}

// A state h and its next value y, made from it in place; the tile memory comes first in their list.
Plan StatePlan(int64_t capacity) {
  Plan plan = OneConvPlan();
  hw_profiles::Memory& memory =
      plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)];
  memory.capacity_bytes = capacity;
  memory.alignment_bytes = 1;
  hw_profiles::RoleLayout& layout =
      plan.profile.roles[static_cast<size_t>(base::TensorRole::kState)];
  layout.home = plan.profile.tile_memory;
  layout.next_homes = {1};
  layout.alignment_bytes = 1;
  plan.profile.tiling.in_place = {base::OperatorKind::kElementwise};
  graph::Graph& network = plan.network;
  network.tensors = {FeatureTensor("h", {4, 10}), FeatureTensor("y", {4, 10}),
                     FeatureTensor("seen", {4, 10})};
  network.tensors[0].state = true;
  network.tensors[1].next_of = 0;
  network.tensors[1].network_output = network.tensors[2].network_output = true;
  network.operators.resize(1);
  network.operators[0].kind = base::OperatorKind::kElementwise;
  network.operators[0].inputs = {0};
  network.operators[0].weights = {};
  network.operators[0].outputs = {1};
  return plan;
}

TEST(CheckAssignment, GivesStatesHalfOfTheTileMemory) {
  EXPECT_THAT(FindingsOf(WithHomes(StatePlan(80), {0, 0})), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHomes(StatePlan(79), {1, 1})), IsEmpty());
  EXPECT_THAT(
      FindingsOf(WithHomes(StatePlan(79), {0, 0})),
      ElementsAre("the home of tensor 'h' is 'sram', but the profile's homes give it 'dram'",
                  "the home of tensor 'y' is 'sram', but the profile's homes give it "
                  "'dram'"));
  EXPECT_EQ(FindingsOf(WithHomes(StatePlan(80), {0, 1})).size(), 1U);
  Plan plan = StatePlan(80);
  hw_profiles::RoleLayout& outputs =
      plan.profile.roles[static_cast<size_t>(base::TensorRole::kNetworkOutput)];
  outputs.home = plan.profile.tile_memory;
  EXPECT_THAT(FindingsOf(WithHomes(plan, {0, 0})), IsEmpty());
}

// Another operator that reads h after y has been made keeps the two apart.
TEST(CheckAssignment, CountsStatesTwiceThatLieApart) {
  const auto looked_at = [](int64_t capacity) {
    Plan plan = StatePlan(capacity);
    plan.network.operators.push_back(plan.network.operators[0]);
    plan.network.operators[1].id = "look";
    plan.network.operators[1].inputs = {0, 1};
    plan.network.operators[1].outputs = {2};
    return plan;
  };
  EXPECT_THAT(FindingsOf(WithHomes(looked_at(160), {0, 0})), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHomes(looked_at(159), {1, 1})), IsEmpty());
  EXPECT_EQ(FindingsOf(WithHomes(looked_at(159), {0, 0})).size(), 2U);
}

TEST(TensorHomes, AreWrittenAndReadBack) {
  const Plan plan = WithHomes(ListedPlan(64), {0, 1, 1});
  const std::string text = files::WritePlanJson(plan);
  EXPECT_THAT(text,
              HasSubstr("\"tensor_homes\": {\"x\": \"tcm\", \"w\": \"dram\", \"y\": \"dram\"}"));
  const base::Expected<Plan> read = files::ReadPlanJson(text, "plan.json");
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_EQ(verify::HomeOf(*read, 0), kTcm);
  EXPECT_EQ(verify::HomeOf(*read, 1), 1);
  EXPECT_EQ(files::WritePlanJson(*read), text);
}

struct HomesFault {
  std::string from;
  std::string to;
  std::string message;
};

TEST(TensorHomes, AreRefusedWhereTheyDoNotFitTheLists) {
  const std::string text = files::WritePlanJson(WithHomes(ListedPlan(64), {0, 1, 1}));
  const std::string stated = "{\"x\": \"tcm\", \"w\": \"dram\", \"y\": \"dram\"}";
  ASSERT_NE(text.find(stated), std::string::npos);
  for (const HomesFault& fault : std::vector<HomesFault>{
           {stated, "{\"x\": \"tcm\", \"w\": \"dram\"}", "the home of tensor 'y' is not stated"},
           {"\"tensor_homes\": " + stated + ",", "", "the home of tensor 'x' is not stated"},
           {stated, "{\"x\": \"tcm\", \"w\": \"sram\", \"y\": \"dram\"}", "/tensor_homes/w"},
           {stated, "{\"x\": \"tcm\", \"v\": \"dram\", \"y\": \"dram\"}", "there is no tensor 'v'"},
           {stated, "[]", "/tensor_homes"}}) {
    std::string changed = text;
    changed.replace(changed.find(fault.from), fault.from.size(), fault.to);
    const base::Expected<Plan> read = files::ReadPlanJson(changed, "plan.json");
    ASSERT_FALSE(read) << fault.to;
    EXPECT_THAT(base::Format(read.error()), HasSubstr(fault.message));
  }
  Plan single = OneConvPlan();
  std::string plain = files::WritePlanJson(single);
  EXPECT_EQ(plain.find("tensor_homes"), std::string::npos);
  plain.replace(plain.find("\"homes\""), 0, "\"tensor_homes\": {\"x\": \"dram\"}, ");
  const base::Expected<Plan> read = files::ReadPlanJson(plain, "plan.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(base::Format(read.error()), HasSubstr("tensor 'x' has one home"));
}

}  // namespace
}  // namespace tessera::plan

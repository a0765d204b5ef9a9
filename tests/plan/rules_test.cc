// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/validator.h"

// A plan must state the profile's rules about its buffers, and its placement must keep them.
namespace tessera::plan {
namespace {

using hw_profiles::OperandKind;
using hw_profiles::Selector;
using problem::RequirementKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> RuleMessages(const Plan& plan) {
  std::vector<std::string> messages;
  for (const verify::Violation& violation : verify::Validate(plan)) {
    messages.push_back(std::string(verify::NameOf(violation.kind)) + ": " + violation.message);
  }
  return messages;
}

// TwoConvsPlan with a rule of the profile, and the statements in the plan that follow from it.
Plan WithRule(const Selector& select, RequirementKind kind, int64_t number) {
  Plan plan = TwoConvsPlan();
  problem::Requirement require;
  require.kind = kind;
  require.multiple = number;
  require.distance = number;
  plan.profile.rules = {{"test", select, require}};
  return plan;
}

TEST(PlanRules, ARuleThatIsKeptAndStatedIsAccepted) {
  Plan plan =
      WithRule({.roles = {"network_input"}, .ping_pong = true}, RequirementKind::kDistance, 96);
  plan.problem.rules = {{"test", plan.profile.rules[0].require, {}, {{0, 1}}, {}}};
  EXPECT_THAT(RuleMessages(plan), IsEmpty());
}

TEST(PlanRules, ARuleThatThePlacementBreaksIsNamed) {
  Plan plan =
      WithRule({.roles = {"network_input"}, .ping_pong = true}, RequirementKind::kDistance, 64);
  plan.problem.rules = {{"test", plan.profile.rules[0].require, {}, {{0, 1}}, {}}};
  EXPECT_THAT(RuleMessages(plan), ElementsAre(HasSubstr("rule 'test': buffer 's0/x@0'")));
}

TEST(PlanRules, ARuleThatIsNotStatedIsMissed) {
  const Plan plan =
      WithRule({.roles = {"network_input"}, .ping_pong = true}, RequirementKind::kDistance, 64);
  EXPECT_THAT(RuleMessages(plan),
              ElementsAre("rule: the problem has 0 rules where the profile makes 1"));
}

TEST(PlanRules, ARuleAboutOtherBuffersIsRefused) {
  Plan plan =
      WithRule({.operators = {base::OperatorKind::kConv}, .operands = {{OperandKind::kInput, 0}}},
               RequirementKind::kOffset, 32);
  plan.problem.rules = {{"test", plan.profile.rules[0].require, {0, 1, 2}, {}, {}}};
  EXPECT_THAT(RuleMessages(plan), ElementsAre("rule: rule 'test' is about other buffers"));
  plan.problem.rules[0].buffers = {0, 1, 2, 3};
  EXPECT_THAT(RuleMessages(plan), IsEmpty());
  plan.problem.rules[0].requirement.multiple = 16;
  EXPECT_THAT(RuleMessages(plan), ElementsAre("rule: rule 'test' is not what the profile says"));
}

TEST(PlanRules, OperandsOfOneOperatorMakePairs) {
  Plan plan = WithRule({.operands = {{OperandKind::kConstant, 0}, {OperandKind::kOutput, 0}}},
                       RequirementKind::kDifference, 16);
  plan.problem.rules = {
      {"test", plan.profile.rules[0].require, {}, {{6, 2}, {6, 3}, {7, 4}, {7, 5}}, {}}};
  EXPECT_THAT(RuleMessages(plan), IsEmpty());
}

// TwoConvsPlan in two banks of which each is a group.
Plan WithBankGroups(problem::Bytes boundary) {
  Plan plan =
      WithRule({.roles = {"network_input"}, .ping_pong = true}, RequirementKind::kSameBankGroup, 0);
  plan.profile.rules[0].require.multiple = 1;
  hw_profiles::Memory& memory =
      plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)];
  memory.banks = {{"low", {0, boundary}, {}}, {"high", {boundary, memory.capacity_bytes}, {}}};
  memory.bank_sets["bank_groups"] = {{0}, {1}};
  plan.problem.memories = {verify::TileMemory(plan.profile)};
  plan.problem.rules = {{"test", plan.profile.rules[0].require, {}, {{0, 1}}, {}}};
  return plan;
}

TEST(PlanRules, BankGroupsAreThoseOfTheProfile) {
  EXPECT_THAT(RuleMessages(WithBankGroups(512)), IsEmpty());
  EXPECT_THAT(RuleMessages(WithBankGroups(64)),
              Contains(HasSubstr("touch 'low' and 'high', which are in different bank groups")));
  Plan plan = WithBankGroups(512);
  plan.problem.memories[0].bank_sets["bank_groups"] = {{0, 1}};
  EXPECT_THAT(RuleMessages(plan), Contains(HasSubstr("the sets of banks of the problem's memory")));
  const auto read =
      files::ReadPlanJson(files::WritePlanJson(WithBankGroups(512), std::nullopt), "plan.json");
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_THAT(RuleMessages(*read), IsEmpty());
}

TEST(PlanRules, ASetIsAllSelectedBuffers) {
  Plan plan = WithBankGroups(512);
  plan.profile.rules[0].select.ping_pong = false;
  EXPECT_THAT(RuleMessages(plan), Contains("rule: rule 'test' is about other buffers"));
  plan.problem.rules = {{"test", plan.profile.rules[0].require, {0, 1}, {}, {}}};
  EXPECT_THAT(RuleMessages(plan), IsEmpty());
}

TEST(PlanRules, InventedRulesAndCostsAreRefused) {
  Plan plan = TwoConvsPlan();
  plan.problem.rules = {{"", {}, {0}, {}, {}}};
  plan.problem.costs = {{"", problem::CostKind::kReuse, 1, 2, 3, 0}};
  EXPECT_THAT(RuleMessages(plan),
              Contains("rule: the problem has 1 rules where the profile makes 0"));
  EXPECT_THAT(RuleMessages(plan), Contains("rule: a planned program states no costs"));
}

TEST(PlanRules, AreReadBackFromThePlansJson) {
  Plan plan =
      WithRule({.roles = {"network_input"}, .ping_pong = true}, RequirementKind::kDistance, 96);
  plan.problem.rules = {{"test", plan.profile.rules[0].require, {}, {{0, 1}}, {}}};
  plan.problem.rules[0].requirement.multiple = 1;
  plan.profile.rules[0].require.multiple = 1;
  const auto read = files::ReadPlanJson(files::WritePlanJson(plan, std::nullopt), "plan.json");
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_EQ(read->problem.rules, plan.problem.rules);
  EXPECT_EQ(read->profile.rules, plan.profile.rules);
}

}  // namespace
}  // namespace tessera::plan

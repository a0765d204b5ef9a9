// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/program_template.h"
#include "tessera/problem/well_formed.h"

// The buffers of a program that a profile's rule selects.
namespace tessera::encoder {
namespace {

using hw_profiles::OperandKind;
using hw_profiles::WeightPolicy;
using problem::RequirementKind;
using testing::ElementsAre;

// Two convolutions in one subgraph of five tiles, ping and pong: the ids that a rule selects, pairs
// as "a b".
std::vector<std::string> SelectedBy(const hw_profiles::Selector& select, RequirementKind kind,
                                    WeightPolicy weights = WeightPolicy::kResident) {
  const graph::Graph graph = TwoConvs(10).graph;
  hw_profiles::Profile profile = TwoLevels(hw_profiles::DmaSteps::kDoubleBuffered);
  profile.rules = {{"test", select, {}}};
  profile.rules[0].require.kind = kind;
  profile.tiling.weight_granularity_channels = 2;
  const program::SubgraphChoice choice = {{0, 1}, {1, 3, 2, 4}, {weights, false}};
  const base::Expected<program::Program> program =
      program::BuildProgram(graph, profile, {&choice, 1});
  EXPECT_TRUE(program.has_value());
  if (!program || program->problem.rules.empty()) return {};
  EXPECT_FALSE(problem::CheckWellFormed(program->problem).has_value());
  const auto id = [&](int i) { return program->problem.buffers[static_cast<size_t>(i)].id; };
  std::vector<std::string> ids;
  for (const int i : program->problem.rules[0].buffers) ids.push_back(id(i));
  for (const auto& [a, b] : program->problem.rules[0].pairs) ids.push_back(id(a) + " " + id(b));
  return ids;
}

TEST(Rules, SelectByRoleAndName) {
  EXPECT_THAT(
      SelectedBy({.roles = {"network_input", "constant"}}, RequirementKind::kNaturalAlignment),
      ElementsAre("s0/w1", "s0/w2", "s0/x@0", "s0/x@1"));
  EXPECT_THAT(SelectedBy({.name = "w?"}, RequirementKind::kNaturalAlignment),
              ElementsAre("s0/w1", "s0/w2"));
  EXPECT_THAT(SelectedBy({.name = "z"}, RequirementKind::kNaturalAlignment), ElementsAre());
}

TEST(Rules, SelectByTypeOperatorAndOperand) {
  EXPECT_THAT(SelectedBy({.types = {base::DataType::kInt16}}, RequirementKind::kNaturalAlignment),
              ElementsAre());
  EXPECT_THAT(
      SelectedBy({.operators = {base::OperatorKind::kPool}}, RequirementKind::kNaturalAlignment),
      ElementsAre());
  EXPECT_THAT(
      SelectedBy({.operators = {base::OperatorKind::kConv}, .operands = {{OperandKind::kInput, 0}}},
                 RequirementKind::kNaturalAlignment),
      ElementsAre("s0/x@0", "s0/x@1", "s0/a@0", "s0/a@1"));
  EXPECT_THAT(SelectedBy({.name = "w1",
                          .operands = {{OperandKind::kConstant, 0}, {OperandKind::kOutput, 0}}},
                         RequirementKind::kNaturalAlignment),
              ElementsAre("s0/w1"));
}

TEST(Rules, PairPingWithPong) {
  EXPECT_THAT(SelectedBy({.ping_pong = true}, RequirementKind::kXorDistance),
              ElementsAre("s0/x@0 s0/x@1", "s0/a@0 s0/a@1", "s0/y@0 s0/y@1"));
}

TEST(Rules, PairOperandsOfOneOperatorInOnePhase) {
  EXPECT_THAT(SelectedBy({.operands = {{OperandKind::kInput, 0}, {OperandKind::kOutput, 0}}},
                         RequirementKind::kDifferentBank),
              ElementsAre("s0/x@0 s0/a@0", "s0/x@1 s0/a@1", "s0/a@0 s0/y@0", "s0/a@1 s0/y@1"));
  EXPECT_THAT(SelectedBy({.operands = {{OperandKind::kConstant, 0}, {OperandKind::kInput, 0}}},
                         RequirementKind::kDifferentBank),
              ElementsAre("s0/w1 s0/x@0", "s0/w1 s0/x@1", "s0/w2 s0/a@0", "s0/w2 s0/a@1"));
}

TEST(Rules, SlicesHoldTheConstantOfTheirUserAlone) {
  EXPECT_THAT(
      SelectedBy({.name = "w2", .operands = {{OperandKind::kConstant, 0}}},
                 RequirementKind::kNaturalAlignment, WeightPolicy::kStreamed),
      ElementsAre("s0/conv2/w2@0.0", "s0/conv2/w2@0.1", "s0/conv2/w2@1.0", "s0/conv2/w2@1.1"));
}

}  // namespace
}  // namespace tessera::encoder

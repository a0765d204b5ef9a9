// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/tests/hw_profiles/engines.h"

// What the encoder makes of operators on the host: docs/program.md, "The host".
namespace tessera::encoder {
namespace {

using base::OperatorKind;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// x --conv--> a --add--> y; the weights of conv, and a constant of add.
Network ConvAndAdd() {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 4, 8, 4});
  const int y = net.Tensor("y", {1, 4, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {4, 2, 1, 1}), a, 1, 0);
  net.Elementwise("add", {a}, y);
  net.graph.operators.back().weights = {net.Constant("c", {4})};
  return net;
}

// No engine lists additions, and none reads or writes the DRAM directly.
Profile WithHost(DmaSteps dma) {
  Profile profile = TwoLevels(dma);
  std::erase_if(profile.engines[0].throughputs,
                [](const auto& entry) { return entry.kind == OperatorKind::kElementwise; });
  profile.engines.push_back(hw_profiles::Host("host"));
  profile.scratch = {{OperatorKind::kElementwise, 4, {}}};
  return profile;
}

const program::SubgraphChoice kAdd = {{1, 1}, {1, 4, 8, 4}, kDirect};

TEST(Host, HasNothingInTheTileMemoryAndMovesNothing) {
  for (const DmaSteps dma : {DmaSteps::kSerialized, DmaSteps::kDoubleBuffered}) {
    const Network net = ConvAndAdd();
    const program::Program program = ProgramOf(net.graph, WithHost(dma), kAdd);
    EXPECT_THAT(Describe(program.problem), IsEmpty());
    EXPECT_THAT(DescribeSteps(net.graph, program), ElementsAre("0 compute add"));
  }
}

TEST(Host, ReadsAndWritesWhatIsKeptOnChip) {
  const Network net = ConvAndAdd();
  Profile profile = WithHost(DmaSteps::kSerialized);
  std::vector<program::SubgraphChoice> choices = {{{0, 0}, {1, 4, 8, 4}, kResident}, kAdd};
  for (program::SubgraphChoice& choice : choices) choice.policy.kept = {1};
  const auto program = program::BuildProgram(net.graph, profile, choices);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "a"), "a: 128 bytes, [2,4), 2 pe w, 3 host r");
  EXPECT_EQ(program->problem.buffers.size(), 3U);  // x, its weights, a
}

TEST(Host, RunsEachOperatorAloneInOneTile) {
  const graph::Graph graph = ConvAndAdd().graph;
  const Profile profile = WithHost(DmaSteps::kSerialized);
  EXPECT_THAT(RefusalOf(graph, profile, {{{0, 1}, {1, 4, 8, 4}, kDirect}}),
              HasSubstr("operator 'add' runs on 'host', the host of profile"));
  EXPECT_THAT(RefusalOf(graph, profile, {{{1, 1}, {1, 4, 8, 4}, kResident}}),
              HasSubstr("weights: direct"));
  EXPECT_THAT(RefusalOf(graph, profile, {{{1, 1}, {1, 4, 8, 4}, {WeightPolicy::kDirect, true}}}),
              HasSubstr("results in place"));
  EXPECT_THAT(RefusalOf(graph, profile, {{{1, 1}, {1, 4, 2, 4}, kDirect}}),
              HasSubstr("tile [1, 4, 2, 4] cuts the output of 'add', which runs on the host"));
  EXPECT_THAT(program::PoliciesOf(graph, profile, {1, 1}, {}), ElementsAre(kDirect));
  EXPECT_THAT(program::AllowedPolicies(graph, profile, {1, 1}, {}), ElementsAre(kDirect));
}

TEST(Host, DoesNotWriteReadOnlyMemory) {
  Profile profile = WithHost(DmaSteps::kSerialized);
  profile.memories[0].writable = false;
  EXPECT_THAT(RefusalOf(ConvAndAdd().graph, profile, {kAdd}), HasSubstr("cannot be written"));
}

TEST(Host, RunsOpaqueOperatorsThatNoOtherEngineListsOrThatNameIt) {
  graph::Graph graph = ConvAndAdd().graph;
  Profile profile = WithHost(DmaSteps::kSerialized);
  graph::Operator& op = graph.operators[1];
  op.kind = OperatorKind::kOpaque;
  const auto engine = [&] {
    const hw_profiles::Engine* found = program::EngineOf(graph, profile, op);
    return found == nullptr ? "none" : found->name;
  };
  std::erase_if(profile.engines[0].throughputs,
                [](const auto& entry) { return entry.kind == OperatorKind::kOpaque; });
  EXPECT_EQ(engine(), "host");
  profile.engines[0].throughputs.emplace_back().kind = OperatorKind::kOpaque;
  EXPECT_EQ(engine(), "pe");
  op.engine = "host";
  EXPECT_EQ(engine(), "host");
  op.engine = "dsp";
  EXPECT_EQ(engine(), "none");
}

}  // namespace
}  // namespace tessera::encoder

// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/problem/well_formed.h"

// Constants that arrive while the previous subgraph runs.
namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::ElementsAre;
using testing::HasSubstr;

// Tensors of TwoConvs.
constexpr int kA = 1;
constexpr int kW2 = 4;

// Each convolution by itself in tiles of so many rows of 8, the second's constants prefetched.
std::vector<program::SubgraphChoice> Apart(int64_t rows, program::Policy policy = kResident) {
  return {{{0, 0}, {1, 4, rows, 4}, policy}, {{1, 1}, {1, 3, rows, 4}, policy, /*prefetch=*/{1}}};
}

program::Program Build(const Profile& profile,
                       const std::vector<program::SubgraphChoice>& choices) {
  base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, profile, choices);
  EXPECT_TRUE(program.has_value()) << base::Format(program.error());
  EXPECT_FALSE(problem::CheckWellFormed(program->problem).has_value());
  return *std::move(program);
}

// 0 P | 1 conv1 | 2 E | 3 P | 4 conv2 | 5 E
TEST(Prefetch, ArrivesDuringTheOnlyTileAndItsStore) {
  const program::Program program = Build(TwoLevels(DmaSteps::kDoubleBuffered), Apart(8));
  EXPECT_EQ(Describe(program.problem, "s1/w2"), "s1/w2: 12 bytes, [1,5), 1 dma w, 2 dma w, 4 pe r");
  EXPECT_THAT(program.steps[1].transfers, ElementsAre(kW2));
  EXPECT_THAT(program.steps[2].transfers, ElementsAre(kA, kW2));
  EXPECT_THAT(program.steps[3].transfers, ElementsAre(kA));
}

// 0 P | 1 conv1 | 2 conv1 | 3 E | 4 P | 5 conv2 | 6 conv2 | 7 E: four tiles, in the two passes of
// either loop.
TEST(Prefetch, ArrivesInEveryPass) {
  const program::Program program = Build(TwoLevels(DmaSteps::kDoubleBuffered), Apart(2));
  EXPECT_EQ(Describe(program.problem, "s1/w2"),
            "s1/w2: 12 bytes, [1,7), 1 dma w, 2 dma w, 3 dma w, 5 pe r, 6 pe r");
}

// The same with five tiles, of which the last is in the first pass.
TEST(Prefetch, StaysInThePassAfterTheLastTile) {
  const graph::Graph graph = TwoConvs(10).graph;
  const auto program = program::BuildProgram(graph, TwoLevels(DmaSteps::kDoubleBuffered), Apart(2));
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "s1/w2"),
            "s1/w2: 12 bytes, [1,7), 1 dma w, 2 dma w, 3 dma w, 5 pe r, 6 pe r");
}

// Of the three output channels of w2 one arrives ahead, and two in the prologue.
TEST(Prefetch, ArrivesInParts) {
  std::vector<program::SubgraphChoice> choices = Apart(8);
  choices[1].prefetch = {1, 0};
  const program::Program program = Build(TwoLevels(DmaSteps::kDoubleBuffered), choices);
  EXPECT_EQ(Describe(program.problem, "s1/w2"),
            "s1/w2: 12 bytes, [1,5), 1 dma w, 2 dma w, 3 dma w, 4 pe r");
  EXPECT_THAT(program.steps[3].transfers, ElementsAre(kA, kW2));
}

// The program of Apart in one tile each, with w2 in three slices of one channel.
program::Program InSlices(const std::vector<int>& prefetch) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.tiling.weight_granularity_channels = 1;
  std::vector<program::SubgraphChoice> choices = Apart(8, kStreamed);
  choices[1].prefetch = prefetch;
  return Build(profile, choices);
}

// The first slice arrives ahead and the second in the prologue: its only index comes with the last
// of its parts. The third arrives while conv2 runs.
TEST(Prefetch, LetsSlicesArriveAhead) {
  const program::Program program = InSlices({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
  EXPECT_EQ(Describe(program.problem, "s1/conv2/w2@0.0"),
            "s1/conv2/w2@0.0: 4 bytes, [1,5), 1 dma w, 2 dma w, 4 pe r");
  EXPECT_EQ(Describe(program.problem, "s1/conv2/w2@0.1"),
            "s1/conv2/w2@0.1: 4 bytes, [3,5), 3 dma w, 4 pe r");
  EXPECT_EQ(Describe(program.problem, "s1/conv2/w2@0.2"),
            "s1/conv2/w2@0.2: 4 bytes, [4,5), 4 pe r, 4 dma w");
  EXPECT_THAT(program.steps[2].transfers, ElementsAre(kA, kW2));
  EXPECT_THAT(program.steps[3].transfers, ElementsAre(kA, kW2));
  EXPECT_THAT(program.steps[4].transfers, ElementsAre(kW2));
}

// With one slice ahead, the third slice takes the slot of the first one.
TEST(Prefetch, LetsSlicesTakeTurns) {
  const program::Program program = InSlices({1});
  EXPECT_EQ(Describe(program.problem, "s1/conv2/w2@0.0"),
            "s1/conv2/w2@0.0: 4 bytes, [1,5), 1 dma w, 2 dma w, 4 pe r, 4 dma w");
  EXPECT_EQ(Describe(program.problem, "s1/conv2/w2@0.1"),
            "s1/conv2/w2@0.1: 4 bytes, [4,5), 4 pe r, 4 dma w");
}

TEST(Prefetch, CutsSlicesIntoPartsThatAddUp) {
  const std::vector<int> prefetch = {3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0};  // one slice, three parts
  EXPECT_EQ(program::SlicesAhead(5, prefetch), 2);
  EXPECT_EQ(program::SlicesAhead(1, prefetch), 1);
  EXPECT_EQ(program::SlicesArriving(5, prefetch, 3).end, 2);
  EXPECT_EQ(program::SlicesArriving(5, prefetch, 2).begin, 1);
  EXPECT_TRUE(program::SlicePartAhead(0, 7, prefetch, 2).IsEmpty());
  int64_t begin = 0;
  for (const auto& [ahead, end] : {std::pair(3, 2), std::pair(2, 4), std::pair(0, 7)}) {
    const program::ConstantPart part = program::SlicePartAhead(1, 7, prefetch, ahead);
    EXPECT_EQ(part.begin, begin);
    EXPECT_EQ(part.end, end);
    begin = part.end;
  }
}

TEST(Prefetch, CutsAConstantIntoPartsThatAddUp) {
  graph::Tensor constant;
  constant.shape = {5, 7};
  const std::vector<int> prefetch = {4, 4, 2, 0};
  EXPECT_TRUE(program::PartAhead(constant, prefetch, 3).IsEmpty());
  problem::Bytes bytes = 0;
  int64_t begin = 0;
  for (const auto& [ahead, end] : {std::pair(4, 2), std::pair(2, 3), std::pair(0, 5)}) {
    const program::ConstantPart part = program::PartAhead(constant, prefetch, ahead);
    EXPECT_EQ(part.begin, begin);
    EXPECT_EQ(part.end, end);
    begin = part.end;
    bytes += part.BytesOf(37);
  }
  EXPECT_EQ(bytes, 37);
  constant.shape = {};
  EXPECT_FALSE(program::PartAhead(constant, prefetch, 0).IsEmpty());
  EXPECT_TRUE(program::PartAhead(constant, prefetch, 4).IsEmpty());
}

// Nothing else is written before the subgraph, so it has no prologue: 0 P | 1 conv1 | 2 conv2 | 3 E
TEST(Prefetch, LeavesNoPrologueForNothing) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  Layout(profile, base::TensorRole::kBoundary).home = profile.tile_memory;
  const program::Program program = Build(profile, Apart(8));
  ASSERT_EQ(program.steps.size(), 4U);
  EXPECT_EQ(program.steps[2].kind, program::StepKind::kCompute);
  EXPECT_EQ(Describe(program.problem, "s1/w2"), "s1/w2: 12 bytes, [1,3), 1 dma w, 2 pe r");
}

TEST(Prefetch, IsRefusedWhereItMeansNothing) {
  std::vector<program::SubgraphChoice> first = Apart(8);
  first[0].prefetch = {1};
  EXPECT_THAT(RefusalOf(TwoConvs().graph, TwoLevels(DmaSteps::kDoubleBuffered), first),
              HasSubstr("the program begins with 'conv1', whose constants are to be prefetched"));
  for (const std::vector<int>& ahead : {std::vector<int>{2}, std::vector<int>{0},
                                        std::vector<int>{1, 0, 1}, std::vector<int>{1, -1}}) {
    std::vector<program::SubgraphChoice> choices = Apart(8);
    choices[1].prefetch = ahead;
    EXPECT_THAT(RefusalOf(TwoConvs().graph, TwoLevels(DmaSteps::kDoubleBuffered), choices),
                HasSubstr("numbers of which none is greater than the one before it"));
  }
  EXPECT_THAT(RefusalOf(TwoConvs().graph, TwoLevels(DmaSteps::kSerialized), Apart(8)),
              HasSubstr("dma: double_buffered"));
  Profile either = TwoLevels(DmaSteps::kDoubleBuffered);
  either.tiling.may_serialize = true;
  for (const size_t serialized : {0, 1}) {
    std::vector<program::SubgraphChoice> choices = Apart(8);
    choices[serialized].policy.serialized = true;
    EXPECT_THAT(
        RefusalOf(TwoConvs().graph, either, choices),
        HasSubstr(serialized == 0 ? "the transfers of one that runs meanwhile are serialized"
                                  : "the transfers of this one are serialized"));
  }
  EXPECT_THAT(
      RefusalOf(TwoConvs().graph, TwoLevels(DmaSteps::kDoubleBuffered), Apart(4, kStreamed)),
      HasSubstr("the subgraph that begins with 'conv2' loads no constant once"));
}

}  // namespace
}  // namespace tessera::encoder

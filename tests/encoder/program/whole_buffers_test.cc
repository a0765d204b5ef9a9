// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/residence.h"

// Tensors whose home is the tile memory, and kept tensors: one buffer each over program time.
namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::ElementsAre;

TEST(WholeBuffers, LiveFromTheirMakerToTheirLastReaderWithOneTileEach) {
  const std::vector<program::SubgraphChoice> choices = {{{0, 0}, {1, 4, 8, 4}, kDirect},
                                                        {{1, 1}, {1, 3, 8, 4}, kDirect}};
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, OneSram(), choices);
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(Describe(program->problem), ElementsAre("x: 64 bytes, [0,1), 0 pe r",           //
                                                      "a: 128 bytes, [0,2), 0 pe w, 1 pe r",  //
                                                      "y: 96 bytes, [1,2), 1 pe w"));
}

TEST(WholeBuffers, AreKeptBoundariesToo) {
  const graph::Graph graph = TwoConvs().graph;
  const int a = *graph::FindTensor(graph, "a");
  std::vector<program::SubgraphChoice> choices = {{{0, 0}, {1, 4, 4, 4}, {}},
                                                  {{1, 1}, {1, 3, 8, 4}, {}}};
  choices[1].policy.kept = {a};
  const base::Expected<program::Program> program =
      program::BuildProgram(graph, TwoLevels(DmaSteps::kSerialized), choices);
  ASSERT_TRUE(program.has_value());
  // load w1 | load x, conv1, twice | load w2, conv2, store y
  EXPECT_THAT(Describe(program->problem, "a"), "a: 128 bytes, [1,5), 2 pe w, 4 pe r");
  for (const program::StepUse& step : program->steps)
    EXPECT_THAT(step.transfers, testing::Not(testing::Contains(a)));
}

TEST(WholeBuffers, SpanTheLoopsThatTouchThem) {
  const program::Program program = TwoConvsIn(OneSram(), 4, kDirect);
  EXPECT_THAT(Describe(program.problem), ElementsAre("x: 64 bytes, [0,2), 0 pe r",  //
                                                     "y: 96 bytes, [0,2), 1 pe w",  //
                                                     "s0/a@0: 64 bytes, [0,2), 0 pe w, 1 pe r"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[0,2) exits 2"));
}

// TwoConvs in tiles of so many rows of 8.
program::Program DoubleBufferedIn(int64_t rows) {
  Profile profile = OneSram();
  profile.tiling.dma = DmaSteps::kDoubleBuffered;
  return TwoConvsIn(profile, rows, kDirect);
}

TEST(WholeBuffers, AreTouchedInBothPassesOfAnDoubleBufferedLoop) {
  const program::Program program = DoubleBufferedIn(2);
  EXPECT_EQ(Describe(program.problem, "x"), "x: 64 bytes, [0,4), 0 pe r, 2 pe r");
  EXPECT_EQ(Describe(program.problem, "y"), "y: 96 bytes, [0,4), 1 pe w, 3 pe w");
}

TEST(WholeBuffers, OfTwoDoubleBufferedTilesLiveFromTheFirstMakerToTheLastReader) {
  const program::Program program = DoubleBufferedIn(4);
  EXPECT_EQ(Describe(program.problem, "x"), "x: 64 bytes, [0,3), 0 pe r, 2 pe r");
  EXPECT_EQ(Describe(program.problem, "y"), "y: 96 bytes, [1,4), 1 pe w, 3 pe w");
}

// x -> a -> b -> c, and d = a + c: tensor a passes over the operator that makes c.
TEST(WholeBuffers, OfTensorsThatPassOverAPartialProgramAreHeldUntouched) {
  Network net;
  const int x = net.Input("x", {1, 1, 4, 4});
  const int a = net.Tensor("a", {1, 1, 4, 4});
  const int b = net.Tensor("b", {1, 1, 4, 4});
  const int c = net.Tensor("c", {1, 1, 4, 4});
  const int d = net.Tensor("d", {1, 1, 4, 4});
  net.Output(d);
  net.Elementwise("op0", {x}, a);
  net.Elementwise("op1", {a}, b);
  net.Elementwise("op2", {b}, c);
  net.Elementwise("op3", {a, c}, d);
  const program::SubgraphChoice choice = {{2, 2}, {1, 1, 4, 4}, kDirect};
  const base::Expected<program::Program> program =
      program::BuildProgram(net.graph, OneSram(), {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(Describe(program->problem), ElementsAre("a: 16 bytes, [0,1)",          //
                                                      "b: 16 bytes, [0,1), 0 pe r",  //
                                                      "c: 16 bytes, [0,1), 0 pe w"));
}

TEST(WholeBuffers, OfConstantsAtHomeInTheTileMemoryAreAllThereAllTheTime) {
  Profile profile = OneSram();
  Layout(profile, TensorRole::kConstant).home = profile.tile_memory;
  const program::SubgraphChoice choice = {{0, 0}, {1, 4, 8, 4}, kDirect};
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, profile, {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "w1"), "w1: 24 bytes, [0,1), 0 pe r");
  EXPECT_EQ(Describe(program->problem, "w2"), "w2: 12 bytes, [0,1)");
}

TEST(WholeBuffers, OfStateLiveForAllSteps) {
  Network net;
  const int x = net.Input("x", {4, 4});
  const int state = net.State("state", {4, 4});
  const int y = net.Tensor("y", {4, 4});
  const int z = net.Tensor("z", {4, 4});
  net.Output(z);
  net.Elementwise("op0", {x}, y);
  net.Elementwise("op1", {y, state}, z);
  const program::SubgraphChoice choice = {{0, 1}, {4, 4}, kDirect};
  const base::Expected<program::Program> program =
      program::BuildProgram(net.graph, OneSram(), {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "state"), "state: 16 bytes, [0,2), 1 pe r");
}

// Each role in turn has its home in the tile memory.
TEST(WholeBuffers, AreAmongTheTensorsThatMayBeHeld) {
  const graph::Graph graph = TwoConvs().graph;
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const int a = *graph::FindTensor(graph, "a");
  int held = 0;
  for (size_t home = 0; home < base::TensorRoleNames().size(); ++home) {
    Profile profile = TwoLevels(DmaSteps::kSerialized);
    profile.roles[home].home = profile.tile_memory;
    for (const std::vector<int>& kept : {std::vector<int>(), std::vector<int>{a}}) {
      const std::vector<int> may = program::MayBeHeldInTileMemory(graph, profile, kept);
      EXPECT_TRUE(std::is_sorted(may.begin(), may.end()));
      for (const graph::Interval interval : {graph::Interval{0, 0}, {0, 1}, {1, 1}}) {
        for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
          const TensorRole role =
              graph::RoleIn(graph, usages[static_cast<size_t>(tensor)], tensor, interval);
          if (role == TensorRole::kFeature ||
              !program::IsHeldInTileMemory(graph, profile, kept, tensor, role))
            continue;
          ++held;
          EXPECT_THAT(may, testing::Contains(tensor)) << home;
        }
      }
    }
  }
  EXPECT_GE(held, 12);
}

}  // namespace
}  // namespace tessera::encoder

// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"

namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Serialized, OneTileHasNoLoopAndConstantsDieWithTheirLastUser) {
  const program::Program program = TwoConvsIn(TwoLevels(DmaSteps::kSerialized), 8, kResident);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 load: w1", "1 load: w2", "2 load: x", "3 compute conv1",
                          "4 compute conv2", "5 store: y"));
  EXPECT_THAT(Describe(program.problem), ElementsAre("s0/w1: 24 bytes, [0,4), 0 dma w, 3 pe r",   //
                                                     "s0/w2: 12 bytes, [1,5), 1 dma w, 4 pe r",   //
                                                     "s0/x@0: 64 bytes, [2,4), 2 dma w, 3 pe r",  //
                                                     "s0/a@0: 128 bytes, [3,5), 3 pe w, 4 pe r",  //
                                                     "s0/y@0: 96 bytes, [4,6), 4 pe w, 5 dma r"));
  EXPECT_THAT(program.problem.loops, IsEmpty());
}

TEST(Serialized, SeveralTilesLoopOverThePassAndKeepConstants) {
  const program::Program program = TwoConvsIn(TwoLevels(DmaSteps::kSerialized), 4, kResident);
  EXPECT_THAT(Describe(program.problem), ElementsAre("s0/w1: 24 bytes, [0,6), 0 dma w, 3 pe r",   //
                                                     "s0/w2: 12 bytes, [1,6), 1 dma w, 4 pe r",   //
                                                     "s0/x@0: 40 bytes, [2,4), 2 dma w, 3 pe r",  //
                                                     "s0/a@0: 64 bytes, [3,5), 3 pe w, 4 pe r",   //
                                                     "s0/y@0: 48 bytes, [4,6), 4 pe w, 5 dma r"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[2,6) exits 6"));
}

TEST(Serialized, SlicesOfAConstantLoopAroundTheirOperator) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.weight_granularity_channels = 2;  // two slices each: 2 of 4 channels, 2 of 3
  const program::Program program = TwoConvsIn(profile, 4, kStreamed);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 load: x", "1 load conv1: w1", "2 compute conv1", "3 load conv2: w2",
                          "4 compute conv2", "5 store: y"));
  EXPECT_THAT(Describe(program.problem),
              ElementsAre("s0/x@0: 40 bytes, [0,3), 0 dma w, 2 pe r",           //
                          "s0/a@0: 64 bytes, [1,5), 2 pe w, 4 pe r",            //
                          "s0/y@0: 48 bytes, [3,6), 4 pe w, 5 dma r",           //
                          "s0/conv1/w1@0.0: 12 bytes, [1,3), 1 dma w, 2 pe r",  //
                          "s0/conv2/w2@0.0: 8 bytes, [3,5), 3 dma w, 4 pe r"));
  EXPECT_THAT(DescribeLoops(program.problem),
              ElementsAre("[0,6) exits 6", "[1,3) exits 3", "[3,5) exits 5"));
}

TEST(Serialized, AConstantInOneSliceNeedsNoLoopOfItsOwn) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.weight_granularity_channels = 4;
  const program::Program program = TwoConvsIn(profile, 4, kStreamed);
  EXPECT_EQ(Describe(program.problem, "s0/a@0"), "s0/a@0: 64 bytes, [2,5), 2 pe w, 4 pe r");
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[0,6) exits 6"));
}

TEST(Serialized, ASliceLoopThatIsTheWholePassIsOneLoop) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.memories[0].direct_read = profile.memories[0].direct_write = true;
  const program::SubgraphChoice choice = {{1, 1}, {1, 3, 4, 4}, kStreamed};
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, profile, {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(Describe(program->problem),
              ElementsAre("s0/conv2/w2@0.0: 4 bytes, [0,2), 0 dma w, 1 pe r"));
  EXPECT_THAT(DescribeLoops(program->problem), ElementsAre("[0,2) exits 2"));
}

TEST(DoubleBuffered, OneTileHasPrologueAndEpilogue) {
  const program::Program program = TwoConvsIn(TwoLevels(DmaSteps::kDoubleBuffered), 8, kResident);
  EXPECT_THAT(
      DescribeSteps(TwoConvs().graph, program),
      ElementsAre("0 prologue: x w1 w2", "1 compute conv1", "2 compute conv2", "3 epilogue: y"));
  EXPECT_THAT(Describe(program.problem), ElementsAre("s0/w1: 24 bytes, [0,2), 0 dma w, 1 pe r",   //
                                                     "s0/w2: 12 bytes, [0,3), 0 dma w, 2 pe r",   //
                                                     "s0/x@0: 64 bytes, [0,2), 0 dma w, 1 pe r",  //
                                                     "s0/a@0: 128 bytes, [1,3), 1 pe w, 2 pe r",  //
                                                     "s0/y@0: 96 bytes, [2,4), 2 pe w, 3 dma r"));
  EXPECT_THAT(program.problem.loops, IsEmpty());
}

// conv1 double-buffered, 0 P | 1 conv1 | 2 E; conv2 serialized: 3 load w2 | 4 load a | 5 conv2 |
// 6 store y.
TEST(Program, SerializesSubgraphsOneByOne) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.tiling.may_serialize = true;
  program::Policy serialized = kResident;
  serialized.serialized = true;
  const std::vector<program::SubgraphChoice> choices = {{{0, 0}, {1, 4, 8, 4}, kResident},
                                                        {{1, 1}, {1, 3, 8, 4}, serialized}};
  const auto program = program::BuildProgram(TwoConvs().graph, profile, choices);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "s0/w1"), "s0/w1: 24 bytes, [0,2), 0 dma w, 1 pe r");
  EXPECT_EQ(Describe(program->problem, "s1/w2"), "s1/w2: 12 bytes, [3,6), 3 dma w, 5 pe r");
  EXPECT_EQ(Describe(program->problem, "s1/a@0"), "s1/a@0: 128 bytes, [4,6), 4 dma w, 5 pe r");
  EXPECT_EQ(Describe(program->problem, "s1/y@0"), "s1/y@0: 96 bytes, [5,7), 5 pe w, 6 dma r");
  profile.tiling.may_serialize = false;
  EXPECT_THAT(RefusalOf(TwoConvs().graph, profile, choices),
              HasSubstr("the subgraph that ends with operator 'conv2' is serialized"));
}

TEST(DoubleBuffered, TwoTilesRunStraightThrough) {
  const program::Program program = TwoConvsIn(TwoLevels(DmaSteps::kDoubleBuffered), 4, kResident);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 prologue: x w1 w2", "1 compute conv1: x", "2 compute conv2: x",
                          "3 compute conv1: y", "4 compute conv2: y", "5 epilogue: y"));
  EXPECT_THAT(Describe(program.problem),
              ElementsAre("s0/w1: 24 bytes, [0,4), 0 dma w, 1 pe r, 3 pe r",    //
                          "s0/w2: 12 bytes, [0,5), 0 dma w, 2 pe r, 4 pe r",    //
                          "s0/x@0: 40 bytes, [0,2), 0 dma w, 1 pe r",           //
                          "s0/x@1: 40 bytes, [1,4), 1 dma w, 2 dma w, 3 pe r",  //
                          "s0/a@0: 64 bytes, [1,3), 1 pe w, 2 pe r",            //
                          "s0/a@1: 64 bytes, [3,5), 3 pe w, 4 pe r",            //
                          "s0/y@0: 48 bytes, [2,5), 2 pe w, 3 dma r, 4 dma r",  //
                          "s0/y@1: 48 bytes, [4,6), 4 pe w, 5 dma r"));
  EXPECT_THAT(program.problem.loops, IsEmpty());
}

// The incoming and the outgoing tile of phase 1 never live together, unlike in a loop.
TEST(DoubleBuffered, ThreeTilesRunStraightThroughWithTwoOfPhaseZero) {
  const program::Program program = TwoConvsIn(TwoLevels(DmaSteps::kDoubleBuffered), 3, kResident);
  EXPECT_THAT(
      Describe(program.problem),
      ElementsAre("s0/w1: 24 bytes, [0,6), 0 dma w, 1 pe r, 3 pe r, 5 pe r",                   //
                  "s0/w2: 12 bytes, [0,7), 0 dma w, 2 pe r, 4 pe r, 6 pe r",                   //
                  "s0/x@0: 40 bytes, [0,2) [3,6), 0 dma w, 1 pe r, 3 dma w, 4 dma w, 5 pe r",  //
                  "s0/x@1: 40 bytes, [1,4), 1 dma w, 2 dma w, 3 pe r",                         //
                  "s0/a@0: 48 bytes, [1,3) [5,7), 1 pe w, 2 pe r, 5 pe w, 6 pe r",             //
                  "s0/a@1: 48 bytes, [3,5), 3 pe w, 4 pe r",                                   //
                  "s0/y@0: 36 bytes, [2,5) [6,8), 2 pe w, 3 dma r, 4 dma r, 6 pe w, 7 dma r",  //
                  "s0/y@1: 36 bytes, [4,7), 4 pe w, 5 dma r, 6 dma r"));
  EXPECT_THAT(program.problem.loops, IsEmpty());
}

TEST(DoubleBuffered, SlicesOfTheFirstOfTwoTilesArriveInThePrologueAlone) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.tiling.weight_granularity_channels = 4;
  const program::Program program = TwoConvsIn(profile, 4, kStreamed);
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@0.0"),
            "s0/conv1/w1@0.0: 24 bytes, [0,2), 0 dma w, 1 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@1.0"),
            "s0/conv1/w1@1.0: 24 bytes, [2,4), 2 dma w, 3 pe r");
}

TEST(DoubleBuffered, AnEvenNumberOfTilesLeavesAtTheEndWithPhaseOne) {
  const program::Program program = TwoConvsIn(TwoLevels(DmaSteps::kDoubleBuffered), 2, kResident);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 prologue: x w1 w2", "1 compute conv1: x y", "2 compute conv2: x y",
                          "3 compute conv1: x y", "4 compute conv2: x y", "5 epilogue: y"));
  EXPECT_THAT(Describe(program.problem),
              ElementsAre("s0/w1: 24 bytes, [0,5), 0 dma w, 1 pe r, 3 pe r",                   //
                          "s0/w2: 12 bytes, [0,5), 0 dma w, 2 pe r, 4 pe r",                   //
                          "s0/x@0: 32 bytes, [0,2) [3,5), 0 dma w, 1 pe r, 3 dma w, 4 dma w",  //
                          "s0/x@1: 32 bytes, [1,4), 1 dma w, 2 dma w, 3 pe r",                 //
                          "s0/a@0: 32 bytes, [1,3), 1 pe w, 2 pe r",                           //
                          "s0/a@1: 32 bytes, [3,5), 3 pe w, 4 pe r",                           //
                          "s0/y@0: 24 bytes, [2,5), 2 pe w, 3 dma r, 4 dma r",                 //
                          "s0/y@1: 24 bytes, [1,3) [4,6), 1 dma r, 2 dma r, 4 pe w, 5 dma r"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[1,5) exits 5"));
}

TEST(DoubleBuffered, AnOddNumberOfTilesLeavesBetweenThePassesWithPhaseZero) {
  const program::Program program =
      TwoConvsIn(TwoLevels(DmaSteps::kDoubleBuffered), 2, kResident, /*of=*/10);
  EXPECT_EQ(Describe(program.problem, "s0/y@0"),
            "s0/y@0: 24 bytes, [2,6), 2 pe w, 3 dma r, 4 dma r, 5 dma r");
  EXPECT_EQ(Describe(program.problem, "s0/y@1"),
            "s0/y@1: 24 bytes, [1,3) [4,5), 1 dma r, 2 dma r, 4 pe w");
  EXPECT_EQ(Describe(program.problem, "s0/x@1"),
            "s0/x@1: 32 bytes, [1,4), 1 dma w, 2 dma w, 3 pe r");
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[1,5) exits 3"));
}

TEST(DoubleBuffered, SlicesAlternateBetweenTwoSlots) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.tiling.weight_granularity_channels = 2;
  const program::Program program = TwoConvsIn(profile, 2, kStreamed);
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@0.0"),
            "s0/conv1/w1@0.0: 12 bytes, [0,2) [4,5), 0 dma w, 1 pe r, 1 dma w, 4 dma w");
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@0.1"),
            "s0/conv1/w1@0.1: 12 bytes, [1,2), 1 pe r, 1 dma w");
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@1.0"),
            "s0/conv1/w1@1.0: 12 bytes, [2,4), 2 dma w, 3 pe r, 3 dma w");
  EXPECT_EQ(Describe(program.problem, "s0/conv2/w2@0.0"),
            "s0/conv2/w2@0.0: 8 bytes, [1,3), 1 dma w, 2 pe r, 2 dma w");
  EXPECT_EQ(program.problem.buffers.size(),
            6U + 8U);  // x, a, y and two constants in two slots, for both phases
}

TEST(DoubleBuffered, ASingleSliceIsNotWrittenWhileItIsRead) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.tiling.weight_granularity_channels = 4;
  const program::Program program = TwoConvsIn(profile, 8, kStreamed);
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@0.0"),
            "s0/conv1/w1@0.0: 24 bytes, [0,2), 0 dma w, 1 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/conv2/w2@0.0"),
            "s0/conv2/w2@0.0: 12 bytes, [1,3), 1 dma w, 2 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/conv1/w1@0.1"), "");
}

TEST(DoubleBuffered, NothingToMoveNeedsNeitherPrologueNorEpilogue) {
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.memories[0].direct_read = profile.memories[0].direct_write = true;
  const program::Program program = TwoConvsIn(profile, 2, kDirect);
  EXPECT_THAT(Describe(program.problem), ElementsAre("s0/a@0: 32 bytes, [0,2), 0 pe w, 1 pe r",  //
                                                     "s0/a@1: 32 bytes, [2,4), 2 pe w, 3 pe r"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[0,4) exits 4"));
}

TEST(Boundary, IsStoredByOneSubgraphAndLoadedByTheNext) {
  const std::vector<program::SubgraphChoice> choices = {{{0, 0}, {1, 4, 8, 4}, kResident},
                                                        {{1, 1}, {1, 3, 8, 4}, kResident}};
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, TwoLevels(DmaSteps::kSerialized), choices);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "s0/a@0"), "s0/a@0: 128 bytes, [2,4), 2 pe w, 3 dma r");
  EXPECT_EQ(Describe(program->problem, "s1/a@0"), "s1/a@0: 128 bytes, [5,7), 5 dma w, 6 pe r");
}

// The patent's chain: a 4x4 tile of the last of three valid 3x3 convolutions needs 6x6, 8x8 and
// 10x10.
TEST(ThreeValidConvolutions, GrowByTwoRowsAndColumnsEach) {
  Network net;
  const int in = net.Input("in", {1, 1, 10, 20});
  const int f1 = net.Tensor("f1", {1, 1, 8, 18});
  const int f2 = net.Tensor("f2", {1, 1, 6, 16});
  const int out = net.Tensor("out", {1, 1, 4, 14});
  net.Output(out);
  const int w = net.Constant("w", {1, 1, 3, 3});
  net.Conv("c1", in, w, f1, 3, 0);
  net.Conv("c2", f1, w, f2, 3, 0);
  net.Conv("c3", f2, w, out, 3, 0);
  for (graph::Operator& op : net.graph.operators) op.window.kernel = {3, 3};
  const program::SubgraphChoice choice = {{0, 2}, {1, 1, 4, 4}, kResident};
  const base::Expected<program::Program> program =
      program::BuildProgram(net.graph, TwoLevels(DmaSteps::kSerialized), {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(
      Describe(program->problem),
      ElementsAre(
          "s0/w: 9 bytes, [0,6), 0 dma w, 2 pe r, 3 pe r, 4 pe r",  // one buffer, three users
          "s0/in@0: 100 bytes, [1,3), 1 dma w, 2 pe r",             //
          "s0/f1@0: 64 bytes, [2,4), 2 pe w, 3 pe r",               //
          "s0/f2@0: 36 bytes, [3,5), 3 pe w, 4 pe r",               //
          "s0/out@0: 16 bytes, [4,6), 4 pe w, 5 dma r"));
}

TEST(Refuses, WhatTheProfileCannotRun) {
  const graph::Graph graph = TwoConvs().graph;
  const program::SubgraphChoice both = {{0, 1}, {1, 3, 8, 4}, kResident};
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.links.clear();
  EXPECT_THAT(RefusalOf(graph, profile, {both}),
              HasSubstr("network_input 'x' cannot be moved between memories 'dram' and 'sram'"));

  profile = TwoLevels(DmaSteps::kSerialized);
  profile.engines[0].throughputs.clear();
  EXPECT_THAT(RefusalOf(graph, profile, {both}),
              HasSubstr("operator 'conv1' is of kind conv and type int8, which no engine of "
                        "profile 'small' runs"));

  profile = TwoLevels(DmaSteps::kSerialized);
  EXPECT_THAT(RefusalOf(graph, profile, {{{0, 1}, {1, 3, 8, 4}, kDirect}}),
              HasSubstr("constant 'w1' cannot be read directly in its home 'dram'"));

  profile.memories[0].writable = false;
  EXPECT_THAT(RefusalOf(graph, profile, {both}),
              HasSubstr("network_output 'y' cannot be written in its home 'dram'"));
}

TEST(Refuses, ADataTypeThatNoEngineWorksOn) {
  graph::Graph graph = TwoConvs().graph;
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.engines[0].throughputs[0].type = base::DataType::kInt8;
  hw_profiles::Throughput wide = profile.engines[0].throughputs[0];
  wide.type = base::DataType::kInt16;
  profile.engines[0].throughputs.push_back(wide);
  graph.tensors[1].type = base::DataType::kFloat32;  // a, which conv2 reads
  EXPECT_THAT(RefusalOf(graph, profile, {{{0, 0}, {1, 4, 8, 4}, kResident}}), "accepted");
  const std::string refusal = RefusalOf(graph, profile, {{{1, 1}, {1, 3, 8, 4}, kResident}});
  EXPECT_THAT(refusal, HasSubstr("operator 'conv2' is of kind conv and type float32, which no "
                                 "engine of profile 'small' runs"));
  EXPECT_THAT(refusal, HasSubstr("expected: one of conv.int8, conv.int16"));
}

TEST(Engines, AreChosenByDataType) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.engines.push_back(profile.engines[0]);
  profile.engines[1].name = "float";
  profile.engines[0].throughputs[0].type = base::DataType::kInt8;
  graph::Graph graph = TwoConvs().graph;
  graph.tensors[1].type = base::DataType::kFloat32;
  const program::SubgraphChoice choice = {{0, 1}, {1, 3, 8, 4}, kResident};
  const base::Expected<program::Program> program =
      program::BuildProgram(graph, profile, {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Describe(program->problem, "s0/a@0"), "s0/a@0: 512 bytes, [3,5), 3 pe w, 4 float r");
}

// The table of a convolution and the factors of an elementwise operator are not cut by output
// channel.
TEST(Streamed, AConstantWithoutSlicesIsResident) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 4, 8, 4});
  const int y = net.Tensor("y", {1, 4, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {4, 2, 1, 1}), a, 1, 0);
  net.graph.operators.back().weights.push_back(net.Constant("table", {4}));
  net.Elementwise("scale", {a}, y);
  net.graph.operators.back().weights = {net.Constant("factors", {4, 1, 1})};
  const program::SubgraphChoice choice = {{0, 1}, {1, 4, 4, 4}, kStreamed};
  const base::Expected<program::Program> program =
      program::BuildProgram(net.graph, TwoLevels(DmaSteps::kSerialized), {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(DescribeSteps(net.graph, *program),
              ElementsAre("0 load: table", "1 load: factors", "2 load: x", "3 load conv: w",
                          "4 compute conv", "5 compute scale", "6 store: y"));
  EXPECT_EQ(Describe(program->problem, "s0/table"), "s0/table: 4 bytes, [0,7), 0 dma w, 4 pe r");
  EXPECT_EQ(Describe(program->problem, "s0/factors"),
            "s0/factors: 4 bytes, [1,7), 1 dma w, 5 pe r");
  EXPECT_EQ(Describe(program->problem, "s0/conv/w@0.0"),
            "s0/conv/w@0.0: 2 bytes, [3,5), 3 dma w, 4 pe r");
}

// One user that needs all of it is enough.
TEST(Streamed, AConstantSharedWithAnElementwiseOperatorIsResident) {
  Network net;
  const int x = net.Input("x", {1, 1, 4, 1});
  const int a = net.Tensor("a", {1, 4, 4, 1});
  const int y = net.Tensor("y", {1, 4, 4, 1});
  net.Output(y);
  const int w = net.Constant("w", {4, 1, 1, 1});
  net.Conv("conv", x, w, a, 1, 0);
  net.Elementwise("scale", {a}, y);
  net.graph.operators.back().weights = {w};
  const program::SubgraphChoice both = {{0, 1}, {1, 4, 4, 1}, kStreamed};
  const base::Expected<program::Program> together =
      program::BuildProgram(net.graph, TwoLevels(DmaSteps::kSerialized), {&both, 1});
  ASSERT_TRUE(together.has_value());
  EXPECT_EQ(Describe(together->problem, "s0/w"), "s0/w: 4 bytes, [0,4), 0 dma w, 2 pe r, 3 pe r");
  const program::SubgraphChoice alone = {{0, 0}, {1, 4, 4, 1}, kStreamed};
  const base::Expected<program::Program> apart =
      program::BuildProgram(net.graph, TwoLevels(DmaSteps::kSerialized), {&alone, 1});
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(Describe(apart->problem, "s0/w"), "");
}

TEST(BuildProgram, RefusesToKeepWhatIsNoBoundary) {
  const graph::Graph graph = TwoConvs().graph;
  program::SubgraphChoice choice = {{0, 1}, {1, 3, 8, 4}, {}};
  choice.policy.kept = {*graph::FindTensor(graph, "a")};
  const base::Expected<program::Program> program =
      program::BuildProgram(graph, TwoLevels(DmaSteps::kSerialized), {&choice, 1});
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().message, "tensor 'a' cannot be kept on chip between subgraphs");
}

TEST(Refuses, ChoicesThatAreNoProgram) {
  const graph::Graph graph = TwoConvs().graph;
  const Profile profile = TwoLevels(DmaSteps::kSerialized);
  EXPECT_THAT(RefusalOf(graph, profile, {}), HasSubstr("a program of no subgraphs"));
  EXPECT_THAT(RefusalOf(graph, profile, {{{0, 2}, {1, 3, 8, 4}, kResident}}),
              HasSubstr("0..2 is no interval"));
  EXPECT_THAT(RefusalOf(graph, profile, {{{0, 1}, {1, 3, 9, 4}, kResident}}),
              HasSubstr("[1, 3, 9, 4] is no tile"));
  EXPECT_THAT(RefusalOf(graph, profile, {{{0, 1}, {3, 8, 4}, kResident}}),
              HasSubstr("[3, 8, 4] is no tile"));
  EXPECT_THAT(RefusalOf(graph, profile,
                        {{{1, 1}, {1, 3, 8, 4}, kResident}, {{1, 1}, {1, 3, 8, 4}, kResident}}),
              HasSubstr("a subgraph begins with operator 1"));
}

TEST(Refuses, StateThatNoLinkMoves) {
  Network net;
  const int state = net.State("state", {4, 4});
  const int y = net.Tensor("y", {4, 4});
  net.Output(y);
  net.graph.tensors[static_cast<size_t>(y)].next_of = state;
  net.Elementwise("op", {state}, y);
  const std::vector<program::SubgraphChoice> choices = {{{0, 0}, {4, 4}, kResident}};
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  EXPECT_EQ(RefusalOf(net.graph, profile, choices), "accepted");
  profile.memories[0].writable = false;
  EXPECT_THAT(RefusalOf(net.graph, profile, choices),
              HasSubstr("state 'y' cannot be written in its home 'dram'"));
  profile.links.clear();
  EXPECT_THAT(RefusalOf(net.graph, profile, choices),
              HasSubstr("state 'state' cannot be moved between memories 'dram' and 'sram'"));
}

TEST(Refuses, SizesBeyondCounting) {
  Network net;
  const int x = net.Input("x", {1, int64_t{1} << 40, int64_t{1} << 15, 1});
  const int y = net.Tensor("y", {1, int64_t{1} << 40, int64_t{1} << 15, 1});
  net.Output(y);
  net.Elementwise("op", {x}, y);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  Layout(profile, TensorRole::kNetworkInput).row_pitch_bytes = int64_t{1} << 50;
  EXPECT_THAT(RefusalOf(net.graph, profile,
                        {{{0, 0}, {1, int64_t{1} << 40, int64_t{1} << 15, 1}, kResident}}),
              HasSubstr("exceed 2^62 bytes"));
}

}  // namespace
}  // namespace tessera::encoder

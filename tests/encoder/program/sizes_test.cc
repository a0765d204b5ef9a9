// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/layout.h"

// Sizes and alignments of buffers.
namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::HasSubstr;

TEST(Sizes, ChannelBlocksAndRowPitchesRoundUp) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  Layout(profile, TensorRole::kFeature).channel_block = 16;
  Layout(profile, TensorRole::kNetworkOutput).row_pitch_bytes = 32;
  const program::Program program = TwoConvsIn(profile, 4, kResident);
  EXPECT_THAT(Describe(program.problem, "s0/a@0"),
              HasSubstr(": 256 bytes"));  // 4 rows of 4 columns by 16
  EXPECT_THAT(Describe(program.problem, "s0/y@0"),
              HasSubstr(": 128 bytes"));  // 4 rows of 4 by 3, padded to 32
  EXPECT_THAT(Describe(program.problem, "s0/x@0"), HasSubstr(": 40 bytes"));
}

TEST(Sizes, ExplicitPaddingIsStoredWithWhatAWindowReads) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.implicit_padding = false;
  const program::Program program = TwoConvsIn(profile, 4, kResident);
  EXPECT_THAT(Describe(program.problem, "s0/x@0"), HasSubstr(": 56 bytes"));  // 5 + 2 rows of 8
  EXPECT_THAT(Describe(program.problem, "s0/a@0"), HasSubstr(": 64 bytes"));  // conv2 pads nothing
}

TEST(Sizes, TablesAreStoredWithTheFirstConstantOfAnOperator) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.table_bytes_per_channel = 10;
  profile.tiling.weight_granularity_channels = 2;
  EXPECT_THAT(Describe(TwoConvsIn(profile, 4, kResident).problem, "s0/w1"),
              HasSubstr(": 64 bytes"));  // 24 + 4 * 10
  EXPECT_THAT(Describe(TwoConvsIn(profile, 4, kStreamed).problem, "s0/conv1/w1@0.0"),
              HasSubstr(": 32 bytes"));  // 12 + 20
}

// Channels of 4 bytes each.
TEST(Sizes, SlicesThatWouldFillTheMemoryAreHalved) {
  Network net;
  const int weights = net.Constant("w", {8, 4, 1, 1});
  net.Conv("conv", net.Input("x", {1, 4, 2, 2}), weights, net.Tensor("y", {1, 8, 2, 2}), 1, 0);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  const auto slices = [&](int64_t capacity, int64_t granularity) {
    memory.capacity_bytes = capacity;
    profile.tiling.weight_granularity_channels = granularity;
    const program::Slicing of =
        program::SlicesOf(net.graph, profile, weights, net.graph.operators.front());
    return std::pair(of.count, of.bytes);
  };
  EXPECT_EQ(slices(43, 8), std::pair(1L, 32L));  // up to 32.25
  EXPECT_EQ(slices(42, 8), std::pair(2L, 16L));
  EXPECT_EQ(slices(37, 7), std::pair(2L, 16L));  // 7 halved and rounded up
  EXPECT_EQ(slices(1, 8), std::pair(4L, 8L));    // to a quarter
  EXPECT_EQ(slices(1, 5), std::pair(4L, 8L));    // 5, 3, 2
  memory.banks.resize(2);
  memory.banks[0].range = {0, 20};
  memory.banks[1].range = {20, 43};
  EXPECT_EQ(slices(43, 8), std::pair(1L, 32L));
  memory.span = problem::Span::kSingle;
  EXPECT_EQ(slices(43, 8), std::pair(2L, 16L));  // up to 17.25
  profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kSplitK);
  EXPECT_EQ(slices(43, 8), std::pair(1L, 32L));
}

// An elementwise operator has a table for each of 4 rows of w, a matmul for each of its 8 columns.
TEST(Sizes, ASharedConstantHasTheLargestTableOfItsUsers) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.table_bytes_per_channel = 10;
  Network net;
  const int weights = net.Constant("w", {4, 8});
  net.Elementwise("add", {net.Input("x", {4, 8})}, net.Tensor("a", {4, 8}));
  net.Elementwise("multiply", {net.Input("z", {5, 4})}, net.Tensor("y", {5, 8}));
  for (graph::Operator& op : net.graph.operators) op.weights = {weights};
  net.graph.operators[1].kind = base::OperatorKind::kMatmul;
  EXPECT_EQ(program::ConstantBytes(net.graph, profile, weights, {0}), 32 + 4 * 10);
  EXPECT_EQ(program::ConstantBytes(net.graph, profile, weights, {1}), 32 + 8 * 10);
  EXPECT_EQ(program::ConstantBytes(net.graph, profile, weights, {0, 1}), 32 + 8 * 10);
}

TEST(Sizes, ScratchFollowsTheFormulasAtTheLargestTile) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  using hw_profiles::ScratchFactor;
  profile.scratch = {
      {base::OperatorKind::kConv, 2, {ScratchFactor::kKernelRows, ScratchFactor::kInChannels}},
      {base::OperatorKind::kConv, 1, {ScratchFactor::kOutBatch, ScratchFactor::kOutRows}}};
  profile.tiling.weight_granularity_channels = 2;
  EXPECT_EQ(Describe(TwoConvsIn(profile, 3, kResident).problem, "s0/conv1/scratch@0"),
            "s0/conv1/scratch@0: 15 bytes, [3,4), 3 pe r, 3 pe w");  // 2 * 3 * 2 + 3
  EXPECT_EQ(
      Describe(TwoConvsIn(profile, 4, kStreamed).problem, "s0/conv2/scratch@0"),
      "s0/conv2/scratch@0: 12 bytes, [3,5), 4 pe r, 4 pe w");  // 2 * 1 * 4 + 4, during all slices
}

TEST(Sizes, ScratchThatADescribedOperatorStatesIsAdded) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  Network net = TwoConvs();
  net.graph.operators[0].scratch_bytes = 50;
  const program::SubgraphChoice choice = {{0, 1}, {1, 3, 3, 4}, kResident};
  EXPECT_EQ(Describe(program::BuildProgram(net.graph, profile, {&choice, 1})->problem,
                     "s0/conv1/scratch@0"),
            "s0/conv1/scratch@0: 50 bytes, [3,4), 3 pe r, 3 pe w");
  profile.scratch = {{base::OperatorKind::kConv, 2, {hw_profiles::ScratchFactor::kKernelRows}}};
  EXPECT_EQ(Describe(program::BuildProgram(net.graph, profile, {&choice, 1})->problem,
                     "s0/conv1/scratch@0"),
            "s0/conv1/scratch@0: 56 bytes, [3,4), 3 pe r, 3 pe w");
}

TEST(Sizes, AlignmentIsTheRolesAndTheLinksForWhatMoves) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  Layout(profile, TensorRole::kNetworkInput).alignment_bytes = 6;
  Layout(profile, TensorRole::kFeature).alignment_bytes = 8;
  profile.links[0].alignment_bytes = 4;
  const program::Program program = TwoConvsIn(profile, 4, kResident);
  EXPECT_EQ(program.problem.buffers[0].alignment, 4);   // w1
  EXPECT_EQ(program.problem.buffers[2].alignment, 12);  // x
  EXPECT_EQ(program.problem.buffers[3].alignment, 8);   // a is never moved
}

}  // namespace
}  // namespace tessera::encoder

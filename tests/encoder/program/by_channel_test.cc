// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"

namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::IsEmpty;

// x -> a (1x1) -> y (depthwise, 3x1, stride 1) -> z (1x1): all maps [1, 2, 8, 4].
Network ConvThenDepthwise() {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  const int z = net.Tensor("z", {1, 2, 8, 4});
  net.Output(z);
  net.Conv("conv", x, net.Constant("w", {2, 2, 1, 1}), a, 1, 0);
  net.Conv("dw", a, net.Constant("wd", {2, 1, 3, 1}), y, 3, 1);
  net.Conv("project", y, net.Constant("v", {2, 2, 1, 1}), z, 1, 0);
  net.graph.operators[1].kind = base::OperatorKind::kDepthwise;
  return net;
}

// The same with stride 2.
Network ConvThenStridedDepthwise() {
  Network net = ConvThenDepthwise();
  for (const size_t halved : {2, 3}) net.graph.tensors[halved].shape = {1, 2, 4, 4};
  net.graph.operators[1].window.stride[0] = 2;
  return net;
}

Profile WithByChannel(Profile profile) {
  profile.tiling.in_place = {base::OperatorKind::kDepthwise};
  profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kDepthwise, std::nullopt, {}, 1, 0, 0});
  return profile;
}

std::string ScratchIn(const graph::Graph& graph, const Profile& profile,
                      const graph::tiling::TileShape& tile) {
  const program::SubgraphChoice choice = {
      {0, static_cast<int>(graph.operators.size()) - 1}, tile, kInPlace};
  return Describe(program::BuildProgram(graph, profile, {&choice, 1}).value().problem,
                  "s0/dw/scratch@0");
}

TEST(ByChannel, TakesThePlaceOfALargerOperandToo) {
  const Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  EXPECT_THAT(ColocationsOf(ConvThenDepthwise().graph, profile, {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));
  const graph::Graph strided = ConvThenStridedDepthwise().graph;
  EXPECT_THAT(ColocationsOf(strided, profile, {1, 2, 4, 4}), ElementsAre("s0/a@0 = s0/y@0"));
  EXPECT_THAT(
      ColocationsOf(strided, WithByChannel(TwoLevels(DmaSteps::kDoubleBuffered)), {1, 2, 1, 4}),
      ElementsAre("s0/a@0 = s0/y@0", "s0/a@1 = s0/y@1"));
}

// Scratch of the largest tile: 4 rows of 4 columns, then 2; and after the profile's own scratch, 3
// bytes for each column.
TEST(ByChannel, NeedsScratchForOneChannel) {
  const graph::Graph graph = ConvThenStridedDepthwise().graph;
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 4, 4}),
              testing::StartsWith("s0/dw/scratch@0: 16 bytes, [5,6), "));
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 2, 4}),
              testing::StartsWith("s0/dw/scratch@0: 8 bytes"));
  profile.scratch = {
      {base::OperatorKind::kDepthwise, 3, {hw_profiles::ScratchFactor::kOutColumns}}};
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 2, 4}),
              testing::StartsWith("s0/dw/scratch@0: 20 bytes"));
  profile.tiling.in_place.clear();
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 2, 4}),
              testing::StartsWith("s0/dw/scratch@0: 12 bytes"));
}

// The window of the last operator lies in padding throughout, so that no tile needs a part of y.
TEST(ByChannel, NeedsNoScratchForAResultThatIsNotNeeded) {
  Network net = ConvThenDepthwise();
  net.graph.operators[2].window.pad_low[0] = 8;
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  EXPECT_THAT(ScratchIn(net.graph, profile, {1, 2, 8, 4}),
              testing::StartsWith("s0/dw/scratch@0: 1 bytes"));
  profile.scratch = {
      {base::OperatorKind::kDepthwise, 3, {hw_profiles::ScratchFactor::kKernelRows}}};
  EXPECT_THAT(ScratchIn(net.graph, profile, {1, 2, 8, 4}),
              testing::StartsWith("s0/dw/scratch@0: 9 bytes"));
}

TEST(ByChannel, NeedsOneChannelForOneChannelOfWholeBytes) {
  const Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  Network twice = ConvThenDepthwise();
  twice.graph.tensors[2].shape[1] = 4;
  EXPECT_THAT(ColocationsOf(twice.graph, profile, {1, 2, 4, 4}), IsEmpty());
  Network wider = ConvThenDepthwise();
  wider.graph.tensors[2].type = base::DataType::kInt16;
  EXPECT_THAT(ColocationsOf(wider.graph, profile, {1, 2, 4, 4}), IsEmpty());
  Network halves = ConvThenDepthwise();
  for (graph::Tensor& tensor : halves.graph.tensors) tensor.type = base::DataType::kInt4;
  EXPECT_THAT(ColocationsOf(halves.graph, profile, {1, 2, 4, 4}), IsEmpty());
}

// A column takes 2 bytes. Blocks and pitches make operand and result differ, or rows begin within a
// column.
TEST(ByChannel, NeedsColumnsThatBeginAtTheSamePlaces) {
  const graph::Graph graph = ConvThenStridedDepthwise().graph;
  const auto in_place = [&](base::TensorRole role, int64_t block, int64_t pitch) {
    Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
    Layout(profile, role).channel_block = block;
    Layout(profile, role).row_pitch_bytes = pitch;
    const program::SubgraphChoice choice = {{1, 1}, {1, 2, 4, 4}, kInPlace};
    return !program::BuildProgram(graph, profile, {&choice, 1}).value().problem.relations.empty();
  };
  EXPECT_TRUE(in_place(base::TensorRole::kFeature, 1,
                       1));  // of no boundary tensor: here both are boundary tensors
  EXPECT_TRUE(in_place(base::TensorRole::kBoundary, 1, 2));
  EXPECT_FALSE(in_place(base::TensorRole::kBoundary, 1, 4));
  EXPECT_FALSE(in_place(base::TensorRole::kBoundary, 1, 3));
  EXPECT_TRUE(in_place(base::TensorRole::kBoundary, 4, 4));
  EXPECT_FALSE(in_place(base::TensorRole::kBoundary, 4, 8));

  const graph::Graph alone = [&] {
    Network net = ConvThenStridedDepthwise();
    net.graph.tensors[2].network_output = true;
    return net.graph;
  }();
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  Layout(profile, base::TensorRole::kNetworkOutput).channel_block = 4;
  const program::SubgraphChoice choice = {{1, 1}, {1, 2, 4, 4}, kInPlace};
  EXPECT_THAT(program::BuildProgram(alone, profile, {&choice, 1}).value().problem.relations,
              IsEmpty());
}

// The next tile's window reads rows of x again.
TEST(ByChannel, OfAWholeOperandNeedsASingleTile) {
  const graph::Graph graph = ConvThenStridedDepthwise().graph;
  const Profile profile = WithByChannel(OneSram());
  const auto pairs = [&](int64_t rows) {
    const program::SubgraphChoice choice = {{1, 1}, {1, 2, rows, 4}, {WeightPolicy::kDirect, true}};
    return program::BuildProgram(graph, profile, {&choice, 1}).value().problem.relations.size();
  };
  EXPECT_EQ(pairs(4), 1U);
  EXPECT_EQ(pairs(2), 0U);
}

TEST(ByChannel, IsNotForOperandsThatAreKeptPaddedOrReadAgain) {
  const graph::Graph graph = ConvThenDepthwise().graph;
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  program::Policy rolling_buffer = kInPlace;
  rolling_buffer.halo = hw_profiles::HaloStorage::kRollingBuffer;
  EXPECT_THAT(ColocationsOf(graph, profile, {1, 2, 2, 4}, rolling_buffer), IsEmpty());
  Network again = ConvThenDepthwise();
  again.graph.operators[2].kind = base::OperatorKind::kElementwise;
  again.graph.operators[2].weights.clear();
  again.graph.operators[2].inputs.push_back(1);
  EXPECT_THAT(ColocationsOf(again.graph, profile, {1, 2, 2, 4}), IsEmpty());
  profile.tiling.implicit_padding = false;
  EXPECT_THAT(ColocationsOf(graph, profile, {1, 2, 2, 4}), IsEmpty());
}

// An activation before it and one behind it: all four share one place. The pair of the depthwise
// operator comes first.
TEST(ByChannel, ChainsWithWhatWorksElementByElement) {
  Network net = ConvThenDepthwise();
  for (const size_t op : {0, 2}) {
    net.graph.operators[op].kind = base::OperatorKind::kElementwise;
    net.graph.operators[op].weights.clear();
  }
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kSerialized));
  profile.tiling.in_place.push_back(base::OperatorKind::kElementwise);
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 8, 4}),
              ElementsAre("s0/a@0 = s0/y@0", "s0/x@0 = s0/a@0", "s0/y@0 = s0/z@0"));
}

}  // namespace
}  // namespace tessera::encoder

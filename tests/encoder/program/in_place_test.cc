// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/program.h"

namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::IsEmpty;

Profile WithInPlace(Profile profile) {
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  return profile;
}

//     x --conv--> a --relu--> y
Network ConvThenRelu() {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {2, 2, 1, 1}), a, 1, 0);
  net.Elementwise("relu", {a}, y);
  return net;
}

TEST(InPlace, TakesThePlaceOfAnOperandThatDies) {
  EXPECT_THAT(ColocationsOf(ConvThenRelu().graph, WithInPlace(TwoLevels(DmaSteps::kSerialized)),
                            {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));
}

// The description of the operator states which operand it may overwrite, whatever kinds the profile
// names.
TEST(InPlace, ADescribedOperatorTakesThePlaceOfTheOperandItNames) {
  Network net = ConvThenRelu();
  graph::Operator& op = net.graph.operators[1];
  op.kind = base::OperatorKind::kOpaque;
  op.accesses = {{.kind = graph::ReadPattern::kElementwise, .window = {}, .every_channel = false}};
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kOpaque, std::nullopt, {}, 1, 1, 0});
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}), IsEmpty());
  op.in_place = {0};
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}), ElementsAre("s0/a@0 = s0/y@0"));
  // A tensor that it reads twice must be named twice.
  op.inputs = {op.inputs[0], op.inputs[0]};
  op.accesses.push_back(op.accesses[0]);
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}), IsEmpty());
  op.in_place = {0, 1};
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}), ElementsAre("s0/a@0 = s0/y@0"));
  op.accesses[1].kind = graph::ReadPattern::kFull;
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 8, 4}), IsEmpty());
  op.inputs.pop_back();
  op.accesses.pop_back();
  op.in_place = {0};
  // With a window the operand's tile is larger than the result's, so it is not overwritten.
  op.accesses[0].kind = graph::ReadPattern::kWindow;
  op.accesses[0].window.kernel = {3, 1};
  op.accesses[0].window.pad_low = {1, 0};
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}), IsEmpty());
}

TEST(InPlace, HoldsForBothPhases) {
  EXPECT_THAT(ColocationsOf(ConvThenRelu().graph, WithInPlace(TwoLevels(DmaSteps::kDoubleBuffered)),
                            {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0", "s0/a@1 = s0/y@1"));
}

TEST(InPlace, NeedsThePolicyAndAKindThatTheProfileNames) {
  const graph::Graph graph = ConvThenRelu().graph;
  EXPECT_THAT(ColocationsOf(graph, TwoLevels(DmaSteps::kSerialized), {1, 2, 4, 4}), IsEmpty());
  const program::Policy without = {WeightPolicy::kResident, false};
  EXPECT_THAT(
      ColocationsOf(graph, WithInPlace(TwoLevels(DmaSteps::kSerialized)), {1, 2, 4, 4}, without),
      IsEmpty());
}

// x --relu--> y: in a double-buffered loop the next x arrives while y leaves.
TEST(InPlace, IsNotForALoadedOperandWhoseNextTileArrivesMeanwhile) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  const Profile double_buffered = WithInPlace(TwoLevels(DmaSteps::kDoubleBuffered));
  EXPECT_THAT(ColocationsOf(net.graph, double_buffered, {1, 2, 2, 4}), IsEmpty());
  EXPECT_THAT(ColocationsOf(net.graph, double_buffered, {1, 2, 8, 4}),
              ElementsAre("s0/x@0 = s0/y@0"));
  EXPECT_THAT(ColocationsOf(net.graph, WithInPlace(TwoLevels(DmaSteps::kSerialized)), {1, 2, 4, 4}),
              ElementsAre("s0/x@0 = s0/y@0"));
}

// Each of two tiles has its own buffers, which are not filled again.
TEST(InPlace, IsForTheLoadedOperandsOfTwoDoubleBufferedTiles) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  EXPECT_THAT(
      ColocationsOf(net.graph, WithInPlace(TwoLevels(DmaSteps::kDoubleBuffered)), {1, 2, 4, 4}),
      ElementsAre("s0/x@0 = s0/y@0", "s0/x@1 = s0/y@1"));
}

// x -> a -> b -> c: with three tiles or more, c@0 still leaves while x@0 is filled again; with one
// or two, nothing is filled again.
TEST(InPlace, KeepsAChainClearOfEveryBufferThatLiesInThePlace) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int b = net.Tensor("b", {1, 2, 8, 4});
  const int c = net.Tensor("c", {1, 2, 8, 4});
  net.Output(c);
  net.Elementwise("op0", {x}, a);
  net.Elementwise("op1", {a}, b);
  net.Elementwise("op2", {b}, c);
  const Profile profile = WithInPlace(TwoLevels(DmaSteps::kDoubleBuffered));
  for (const int64_t rows : {1, 2, 3}) {
    EXPECT_THAT(
        ColocationsOf(net.graph, profile, {1, 2, rows, 4}),
        ElementsAre("s0/x@0 = s0/a@0", "s0/x@1 = s0/a@1", "s0/a@0 = s0/b@0", "s0/a@1 = s0/b@1"));
  }
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}),
              ElementsAre("s0/x@0 = s0/a@0", "s0/x@1 = s0/a@1", "s0/a@0 = s0/b@0",
                          "s0/a@1 = s0/b@1", "s0/b@0 = s0/c@0", "s0/b@1 = s0/c@1"));
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 8, 4}),
              ElementsAre("s0/x@0 = s0/a@0", "s0/a@0 = s0/b@0", "s0/b@0 = s0/c@0"));
}

// The result of op0 dies immediately; op1 reads x again.
TEST(InPlace, IsNotForAResultWithoutAReader) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int unread = net.Tensor("unread", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("op0", {x}, unread);
  net.Elementwise("op1", {x}, y);
  EXPECT_THAT(ColocationsOf(net.graph, WithInPlace(TwoLevels(DmaSteps::kSerialized)), {1, 2, 8, 4}),
              ElementsAre("s0/x@0 = s0/y@0"));
}

// b = relu(a); y = a + b: only the sum may overwrite, and only its first operand that dies.
TEST(InPlace, IsNotForAnOperandWithALaterReader) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int b = net.Tensor("b", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {2, 2, 1, 1}), a, 1, 0);
  net.Elementwise("relu", {a}, b);
  net.Elementwise("sum", {a, b}, y);
  EXPECT_THAT(ColocationsOf(net.graph, WithInPlace(TwoLevels(DmaSteps::kSerialized)), {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));
}

TEST(InPlace, NeedsEqualLayouts) {
  Profile profile = WithInPlace(TwoLevels(DmaSteps::kSerialized));
  Layout(profile, base::TensorRole::kNetworkOutput).channel_block = 16;
  EXPECT_THAT(ColocationsOf(ConvThenRelu().graph, profile, {1, 2, 4, 4}), IsEmpty());
}

// Each tile of a whole tensor overwrites its own part. In two passes the lifespans share the steps
// of both.
TEST(InPlace, OfAWholeOperandNeedsASinglePass) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  const program::Policy direct = {WeightPolicy::kDirect, true};
  Profile profile = WithInPlace(OneSram());
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 8, 4}, direct), ElementsAre("x = y"));
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}, direct), ElementsAre("x = y"));
  profile.tiling.dma = DmaSteps::kDoubleBuffered;
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}, direct), IsEmpty());
}

// The tile of a is one element, the last, in a row as long as that of x.
TEST(InPlace, OfAWholeOperandNeedsTheWholeResult) {
  Network net;
  const int x = net.Input("x", {1, 1, 1, 4});
  const int a = net.Tensor("a", {1, 1, 1, 4});
  const int y = net.Tensor("y", {1, 1, 1, 1});
  net.Output(y);
  net.Elementwise("relu", {x}, a);
  graph::Operator last;
  last.id = "last";
  last.kind = base::OperatorKind::kSlice;
  last.own = graph::SliceAttributes{.starts = {0, 0, 0, 3}, .steps = {1, 1, 1, 1}};
  last.inputs = {a};
  last.outputs = {y};
  net.graph.operators.push_back(last);
  Profile profile = WithInPlace(OneSram());
  profile.engines = {hw_profiles::EngineForEveryKind("pe")};
  for (const base::TensorRole role : {base::TensorRole::kNetworkInput, base::TensorRole::kFeature})
    Layout(profile, role).row_pitch_bytes = 4;
  const program::Policy direct = {WeightPolicy::kDirect, true};
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 1, 1, 1}, direct), IsEmpty());
}

// The sum of full rows reads the network input, and a convolution needs it with a halo around each
// tile.
TEST(InPlace, IsNotForAnOperandThatTheTileNeedsMoreOf) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {2, 2, 3, 1}), a, 3, 1);
  net.Elementwise("sum", {x, a}, y);
  const Profile profile = WithInPlace(TwoLevels(DmaSteps::kSerialized));
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));  // x has a fifth row
  EXPECT_THAT(ColocationsOf(net.graph, profile, {1, 2, 8, 4}), ElementsAre("s0/x@0 = s0/y@0"));
}

}  // namespace
}  // namespace tessera::encoder

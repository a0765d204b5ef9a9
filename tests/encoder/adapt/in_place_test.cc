#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/adapt/program.h"

namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Policy kInPlace = {WeightPolicy::kResident, true};

Profile WithInPlace(Profile profile) {
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  return profile;
}

// "s0/a@0 = s0/y@0": every colocation of a program of one subgraph.
std::vector<std::string> InPlace(const graph::Graph& graph, const Profile& profile, graph::TileShape tile,
                                 Policy policy = kInPlace) {
  const SubgraphChoice choice = {{0, static_cast<int>(graph.operators.size()) - 1}, std::move(tile), policy};
  const base::Expected<Program> program = BuildProgram(graph, profile, {&choice, 1});
  EXPECT_TRUE(program.has_value());
  std::vector<std::string> pairs;
  for (const problem::Relation& relation : program->problem.relations) {
    EXPECT_EQ(relation.kind, problem::RelationKind::kColocate);
    EXPECT_EQ(relation.delta, 0);
    pairs.push_back(program->problem.buffers[static_cast<size_t>(relation.first)].id + " = " +
                    program->problem.buffers[static_cast<size_t>(relation.second)].id);
  }
  return pairs;
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
  EXPECT_THAT(InPlace(ConvThenRelu().graph, WithInPlace(TwoLevels(DmaSteps::kOwnSteps)), {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));
}

// Its author says which operand it may overwrite, whatever kinds the profile names.
TEST(InPlace, ADescribedOperatorTakesThePlaceOfTheOperandItNames) {
  Network net = ConvThenRelu();
  graph::Operator& op = net.graph.operators[1];
  op.kind = base::OperatorKind::kOpaque;
  op.accesses = {{.kind = graph::AccessKind::kElementwise, .window = {}, .every_channel = false}};
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  profile.engines[0].throughputs.push_back({base::OperatorKind::kOpaque, std::nullopt, {}, 1, 1, 0});
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}), IsEmpty());
  op.in_place = {0};
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}), ElementsAre("s0/a@0 = s0/y@0"));
  // With a window that reads its neighbours the tile of the operand is larger, and stays where it is.
  op.accesses[0].kind = graph::AccessKind::kWindow;
  op.accesses[0].window.kernel = {3, 1};
  op.accesses[0].window.pad_low = {1, 0};
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}), IsEmpty());
}

TEST(InPlace, HoldsForBothParities) {
  EXPECT_THAT(InPlace(ConvThenRelu().graph, WithInPlace(TwoLevels(DmaSteps::kOverlapped)), {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0", "s0/a@1 = s0/y@1"));
}

TEST(InPlace, NeedsThePolicyAndAKindThatTheProfileNames) {
  const graph::Graph graph = ConvThenRelu().graph;
  EXPECT_THAT(InPlace(graph, TwoLevels(DmaSteps::kOwnSteps), {1, 2, 4, 4}), IsEmpty());
  const Policy without = {WeightPolicy::kResident, false};
  EXPECT_THAT(InPlace(graph, WithInPlace(TwoLevels(DmaSteps::kOwnSteps)), {1, 2, 4, 4}, without), IsEmpty());
}

// x --relu--> y: in a double-buffered loop the next x arrives while y leaves.
TEST(InPlace, IsNotForALoadedOperandWhoseNextTileArrivesMeanwhile) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  const Profile overlapped = WithInPlace(TwoLevels(DmaSteps::kOverlapped));
  EXPECT_THAT(InPlace(net.graph, overlapped, {1, 2, 2, 4}), IsEmpty());
  EXPECT_THAT(InPlace(net.graph, overlapped, {1, 2, 8, 4}), ElementsAre("s0/x@0 = s0/y@0"));
  EXPECT_THAT(InPlace(net.graph, WithInPlace(TwoLevels(DmaSteps::kOwnSteps)), {1, 2, 4, 4}),
              ElementsAre("s0/x@0 = s0/y@0"));
}

// Of two tiles each has buffers to itself, which are not filled again.
TEST(InPlace, IsForTheLoadedOperandsOfTwoOverlappedTiles) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  EXPECT_THAT(InPlace(net.graph, WithInPlace(TwoLevels(DmaSteps::kOverlapped)), {1, 2, 4, 4}),
              ElementsAre("s0/x@0 = s0/y@0", "s0/x@1 = s0/y@1"));
}

// x -> a -> b -> c: with three tiles or more, c@0 still leaves while x@0 is filled again; with one or two, nothing is.
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
  const Profile profile = WithInPlace(TwoLevels(DmaSteps::kOverlapped));
  for (const int64_t rows : {1, 2, 3}) {
    EXPECT_THAT(InPlace(net.graph, profile, {1, 2, rows, 4}),
                ElementsAre("s0/x@0 = s0/a@0", "s0/x@1 = s0/a@1", "s0/a@0 = s0/b@0", "s0/a@1 = s0/b@1"));
  }
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}),
              ElementsAre("s0/x@0 = s0/a@0", "s0/x@1 = s0/a@1", "s0/a@0 = s0/b@0", "s0/a@1 = s0/b@1",
                          "s0/b@0 = s0/c@0", "s0/b@1 = s0/c@1"));
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 8, 4}),
              ElementsAre("s0/x@0 = s0/a@0", "s0/a@0 = s0/b@0", "s0/b@0 = s0/c@0"));
}

// The result of op0 dies at once; x is read again by op1.
TEST(InPlace, IsNotForAResultThatNobodyReads) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int unread = net.Tensor("unread", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("op0", {x}, unread);
  net.Elementwise("op1", {x}, y);
  EXPECT_THAT(InPlace(net.graph, WithInPlace(TwoLevels(DmaSteps::kOwnSteps)), {1, 2, 8, 4}),
              ElementsAre("s0/x@0 = s0/y@0"));
}

// b = relu(a); y = a + b: only the sum may overwrite, and only its first dying operand.
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
  EXPECT_THAT(InPlace(net.graph, WithInPlace(TwoLevels(DmaSteps::kOwnSteps)), {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));
}

TEST(InPlace, NeedsEqualLayouts) {
  Profile profile = WithInPlace(TwoLevels(DmaSteps::kOwnSteps));
  Layout(profile, base::TensorRole::kNetworkOutput).channel_block = 16;
  EXPECT_THAT(InPlace(ConvThenRelu().graph, profile, {1, 2, 4, 4}), IsEmpty());
}

// Each tile of a whole tensor overwrites its own part. In two passes the lives share the steps of both.
TEST(InPlace, OfAWholeOperandNeedsASinglePass) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  const Policy direct = {WeightPolicy::kDirect, true};
  Profile profile = WithInPlace(OneSram());
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 8, 4}, direct), ElementsAre("x = y"));
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}, direct), ElementsAre("x = y"));
  profile.tiling.dma = DmaSteps::kOverlapped;
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}, direct), IsEmpty());
}

// The network input is read by the sum of full rows, and by a convolution that asks for a halo around each tile.
TEST(InPlace, IsNotForAnOperandThatTheTileNeedsMoreOf) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {2, 2, 3, 1}), a, 3, 1);
  net.Elementwise("sum", {x, a}, y);
  const Profile profile = WithInPlace(TwoLevels(DmaSteps::kOwnSteps));
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 4, 4}),
              ElementsAre("s0/a@0 = s0/y@0"));  // x has a fifth row
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 8, 4}), ElementsAre("s0/x@0 = s0/y@0"));
}

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
  profile.engines[0].throughputs.push_back({base::OperatorKind::kDepthwise, std::nullopt, {}, 1, 0, 0});
  return profile;
}

std::string ScratchIn(const graph::Graph& graph, const Profile& profile, const graph::TileShape& tile) {
  const SubgraphChoice choice = {{0, static_cast<int>(graph.operators.size()) - 1}, tile, kInPlace};
  return Describe(BuildProgram(graph, profile, {&choice, 1}).value().problem, "s0/dw/scratch@0");
}

TEST(ByChannel, TakesThePlaceOfALargerOperandToo) {
  const Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
  EXPECT_THAT(InPlace(ConvThenDepthwise().graph, profile, {1, 2, 4, 4}), ElementsAre("s0/a@0 = s0/y@0"));
  const graph::Graph strided = ConvThenStridedDepthwise().graph;
  EXPECT_THAT(InPlace(strided, profile, {1, 2, 4, 4}), ElementsAre("s0/a@0 = s0/y@0"));
  EXPECT_THAT(InPlace(strided, WithByChannel(TwoLevels(DmaSteps::kOverlapped)), {1, 2, 1, 4}),
              ElementsAre("s0/a@0 = s0/y@0", "s0/a@1 = s0/y@1"));
}

// Of the largest tile: 4 rows of 4 columns, then 2; behind the profile's own, 3 bytes for each column.
TEST(ByChannel, NeedsScratchForOneChannel) {
  const graph::Graph graph = ConvThenStridedDepthwise().graph;
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 4, 4}),
              testing::StartsWith("s0/dw/scratch@0: 16 bytes, [5,6), "));
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 2, 4}), testing::StartsWith("s0/dw/scratch@0: 8 bytes"));
  profile.scratch = {{base::OperatorKind::kDepthwise, 3, {hw_profiles::ScratchFactor::kOutColumns}}};
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 2, 4}), testing::StartsWith("s0/dw/scratch@0: 20 bytes"));
  profile.tiling.in_place.clear();
  EXPECT_THAT(ScratchIn(graph, profile, {1, 2, 2, 4}), testing::StartsWith("s0/dw/scratch@0: 12 bytes"));
}

TEST(ByChannel, NeedsOneChannelForOneChannelOfWholeBytes) {
  const Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
  Network twice = ConvThenDepthwise();
  twice.graph.tensors[2].shape[1] = 4;
  EXPECT_THAT(InPlace(twice.graph, profile, {1, 2, 4, 4}), IsEmpty());
  Network wider = ConvThenDepthwise();
  wider.graph.tensors[2].type = base::DataType::kInt16;
  EXPECT_THAT(InPlace(wider.graph, profile, {1, 2, 4, 4}), IsEmpty());
  Network halves = ConvThenDepthwise();
  for (graph::Tensor& tensor : halves.graph.tensors) tensor.type = base::DataType::kInt4;
  EXPECT_THAT(InPlace(halves.graph, profile, {1, 2, 4, 4}), IsEmpty());
}

// A column takes 2 bytes; blocks and pitches that make operand and result differ, or rows begin within a column.
TEST(ByChannel, NeedsColumnsThatBeginAtTheSamePlaces) {
  const graph::Graph graph = ConvThenStridedDepthwise().graph;
  const auto in_place = [&](base::TensorRole role, int64_t block, int64_t pitch) {
    Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
    Layout(profile, role).channel_block = block;
    Layout(profile, role).row_pitch_bytes = pitch;
    const SubgraphChoice choice = {{1, 1}, {1, 2, 4, 4}, kInPlace};
    return !BuildProgram(graph, profile, {&choice, 1}).value().problem.relations.empty();
  };
  EXPECT_TRUE(in_place(base::TensorRole::kFeature, 1, 1));  // of no border: both are borders here
  EXPECT_TRUE(in_place(base::TensorRole::kBorder, 1, 2));
  EXPECT_FALSE(in_place(base::TensorRole::kBorder, 1, 4));
  EXPECT_FALSE(in_place(base::TensorRole::kBorder, 1, 3));
  EXPECT_TRUE(in_place(base::TensorRole::kBorder, 4, 4));
  EXPECT_FALSE(in_place(base::TensorRole::kBorder, 4, 8));

  const graph::Graph alone = [&] {
    Network net = ConvThenStridedDepthwise();
    net.graph.tensors[2].network_output = true;
    return net.graph;
  }();
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
  Layout(profile, base::TensorRole::kNetworkOutput).channel_block = 4;
  const SubgraphChoice choice = {{1, 1}, {1, 2, 4, 4}, kInPlace};
  EXPECT_THAT(BuildProgram(alone, profile, {&choice, 1}).value().problem.relations, IsEmpty());
}

// The next tile's window reads rows of x again.
TEST(ByChannel, OfAWholeOperandNeedsASingleTile) {
  const graph::Graph graph = ConvThenStridedDepthwise().graph;
  const Profile profile = WithByChannel(OneSram());
  const auto pairs = [&](int64_t rows) {
    const SubgraphChoice choice = {{1, 1}, {1, 2, rows, 4}, {WeightPolicy::kDirect, true}};
    return BuildProgram(graph, profile, {&choice, 1}).value().problem.relations.size();
  };
  EXPECT_EQ(pairs(4), 1U);
  EXPECT_EQ(pairs(2), 0U);
}

TEST(ByChannel, IsNotForOperandsThatAreKeptPaddedOrReadAgain) {
  const graph::Graph graph = ConvThenDepthwise().graph;
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
  Policy ring = kInPlace;
  ring.halo = hw_profiles::HaloStorage::kRing;
  EXPECT_THAT(InPlace(graph, profile, {1, 2, 2, 4}, ring), IsEmpty());
  Network again = ConvThenDepthwise();
  again.graph.operators[2].kind = base::OperatorKind::kElementwise;
  again.graph.operators[2].weights.clear();
  again.graph.operators[2].inputs.push_back(1);
  EXPECT_THAT(InPlace(again.graph, profile, {1, 2, 2, 4}), IsEmpty());
  profile.tiling.implicit_padding = false;
  EXPECT_THAT(InPlace(graph, profile, {1, 2, 2, 4}), IsEmpty());
}

// An activation before it and one behind it: all four in one place. The pair of the depthwise comes first.
TEST(ByChannel, ChainsWithWhatWorksElementByElement) {
  Network net = ConvThenDepthwise();
  for (const size_t op : {0, 2}) {
    net.graph.operators[op].kind = base::OperatorKind::kElementwise;
    net.graph.operators[op].weights.clear();
  }
  Profile profile = WithByChannel(TwoLevels(DmaSteps::kOwnSteps));
  profile.tiling.in_place.push_back(base::OperatorKind::kElementwise);
  EXPECT_THAT(InPlace(net.graph, profile, {1, 2, 8, 4}),
              ElementsAre("s0/a@0 = s0/y@0", "s0/x@0 = s0/a@0", "s0/y@0 = s0/z@0"));
}

// A cache [1, 2, past, 4] of keys, rows outermost, and x, the keys of one token more: concat -> all -> conv -> y.
Network CacheThatGrows(int axis) {
  Network net;
  const int cache = net.State("cache", {1, 2, 7, 4});
  const int x = net.Input("x", axis == 2 ? graph::Shape{1, 2, 1, 4} : graph::Shape{1, 2, 7, 1});
  const int all = net.Tensor("all", axis == 2 ? graph::Shape{1, 2, 8, 4} : graph::Shape{1, 2, 7, 5});
  const int y = net.Tensor("y", net.graph.tensors[2].shape);
  net.Output(all);
  net.Output(y);
  net.graph.tensors[static_cast<size_t>(all)].next_of = cache;
  graph::Operator concat;
  concat.id = "concat";
  concat.kind = base::OperatorKind::kConcat;
  concat.axis = axis;
  concat.inputs = {cache, x};
  concat.outputs = {all};
  net.graph.operators.push_back(concat);
  net.Conv("conv", all, net.Constant("w", {2, 2, 1, 1}), y, 1, 0);
  return net;
}

Profile WithConcat(Profile profile) {
  profile.engines[0].throughputs.push_back({base::OperatorKind::kConcat, std::nullopt, {}, 1, 1, 0});
  Layout(profile, base::TensorRole::kState).home = profile.tile_memory;
  return profile;
}

TEST(HandedOn, ACacheGrowsWhereItLies) {
  const Profile profile = WithConcat(TwoLevels(DmaSteps::kOwnSteps));
  const graph::Graph graph = CacheThatGrows(2).graph;
  const std::vector<std::string> both = {"cache = all"};
  EXPECT_EQ(InPlace(graph, profile, {1, 2, 8, 4}, {}), both);
  EXPECT_EQ(InPlace(graph, profile, {1, 2, 2, 4}, {}), both);
  EXPECT_THAT(InPlace(CacheThatGrows(3).graph, profile, {1, 2, 7, 5}, {}), IsEmpty());  // rows become longer
  Network second = CacheThatGrows(2);
  std::swap(second.graph.operators[0].inputs[0], second.graph.operators[0].inputs[1]);
  EXPECT_THAT(InPlace(second.graph, profile, {1, 2, 8, 4}, {}), IsEmpty());  // all of it would move
}

// state, x -> sum; state -> seen: whoever reads the state beside the operator that replaces it.
Network StateReadTwice(bool before) {
  Network net;
  const int state = net.State("state", {1, 2, 8, 4});
  const int x = net.Input("x", {1, 2, 8, 4});
  const int sum = net.Tensor("sum", {1, 2, 8, 4});
  const int seen = net.Tensor("seen", {1, 2, 8, 4});
  net.Output(sum);
  net.Output(seen);
  net.graph.tensors[static_cast<size_t>(sum)].next_of = state;
  if (before) net.Elementwise("look", {state}, seen);
  net.Elementwise("add", {state, x}, sum);
  if (!before) net.Elementwise("look", {state}, seen);
  return net;
}

TEST(HandedOn, NeedsReadersThatAreDone) {
  Profile profile = WithInPlace(WithConcat(TwoLevels(DmaSteps::kOwnSteps)));
  EXPECT_THAT(InPlace(StateReadTwice(true).graph, profile, {1, 2, 8, 4}, {}), ElementsAre("state = sum"));
  EXPECT_THAT(InPlace(StateReadTwice(false).graph, profile, {1, 2, 8, 4}, {}), IsEmpty());
  profile.tiling.in_place.clear();  // an engine that cannot work element by element
  EXPECT_THAT(InPlace(StateReadTwice(true).graph, profile, {1, 2, 8, 4}, {}), IsEmpty());
}

TEST(HandedOn, LetsNoTileReadWhatAnotherHasReplaced) {
  const graph::Graph graph = StateReadTwice(true).graph;
  EXPECT_FALSE(graph::CanCut(graph, {0, 1}, 2));
  EXPECT_TRUE(graph::CanCut(graph, {0, 0}, 2));
  EXPECT_TRUE(graph::CanCut(graph, {1, 1}, 2));
}

}  // namespace
}  // namespace tessera::encoder

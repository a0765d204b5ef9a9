// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::ElementsAre;
using testing::IsEmpty;

// Every colocation of a program of one subgraph.
std::vector<std::string> StateAliasing(const graph::Graph& graph, const Profile& profile,
                                       graph::tiling::TileShape tile) {
  return ColocationsOf(graph, profile, std::move(tile), program::Policy());
}

// A cache [1, 2, past, 4] of keys, rows outermost, and x, the keys of one more token: concat -> all
// -> conv -> y.
Network CacheThatGrows(int axis) {
  Network net;
  const int cache = net.State("cache", {1, 2, 7, 4});
  const int x = net.Input("x", axis == 2 ? graph::Shape{1, 2, 1, 4} : graph::Shape{1, 2, 7, 1});
  const int all =
      net.Tensor("all", axis == 2 ? graph::Shape{1, 2, 8, 4} : graph::Shape{1, 2, 7, 5});
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
  profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kConcat, std::nullopt, {}, 1, 1, 0});
  Layout(profile, base::TensorRole::kState).home = profile.tile_memory;
  return profile;
}

TEST(StateAliasing, ACacheGrowsWhereItLies) {
  const Profile profile = WithConcat(TwoLevels(DmaSteps::kSerialized));
  const graph::Graph graph = CacheThatGrows(2).graph;
  const std::vector<std::string> both = {"cache = all"};
  EXPECT_EQ(StateAliasing(graph, profile, {1, 2, 8, 4}), both);
  EXPECT_EQ(StateAliasing(graph, profile, {1, 2, 2, 4}), both);
  EXPECT_THAT(StateAliasing(CacheThatGrows(3).graph, profile, {1, 2, 7, 5}),
              IsEmpty());  // rows become longer
  Network second = CacheThatGrows(2);
  std::swap(second.graph.operators[0].inputs[0], second.graph.operators[0].inputs[1]);
  EXPECT_THAT(StateAliasing(second.graph, profile, {1, 2, 8, 4}),
              IsEmpty());  // the whole cache would move
}

// state, x -> sum; state -> seen: another operator reads the state that the sum replaces.
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

TEST(StateAliasing, NeedsReadersThatAreDone) {
  Profile profile = WithConcat(TwoLevels(DmaSteps::kSerialized));
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  EXPECT_THAT(StateAliasing(StateReadTwice(true).graph, profile, {1, 2, 8, 4}),
              ElementsAre("state = sum"));
  EXPECT_THAT(StateAliasing(StateReadTwice(false).graph, profile, {1, 2, 8, 4}), IsEmpty());
  profile.tiling.in_place.clear();  // an engine that cannot work element by element
  EXPECT_THAT(StateAliasing(StateReadTwice(true).graph, profile, {1, 2, 8, 4}), IsEmpty());
}

TEST(StateAliasing, LetsNoTileReadWhatAnotherHasReplaced) {
  const graph::Graph graph = StateReadTwice(true).graph;
  EXPECT_FALSE(graph::tiling::CanCut(graph, {0, 1}, 2));
  EXPECT_TRUE(graph::tiling::CanCut(graph, {0, 0}, 2));
  EXPECT_TRUE(graph::tiling::CanCut(graph, {1, 1}, 2));
}

// state, x -> sum -> conv -> y: tiles of y share rows of the sum if the convolution has more than
// one row.
graph::Graph SumThatIsRead(int64_t kernel) {
  Network net;
  const int state = net.State("state", {1, 2, 8, 4});
  const int x = net.Input("x", {1, 2, 8, 4});
  const int sum = net.Tensor("sum", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(sum);
  net.Output(y);
  net.graph.tensors[static_cast<size_t>(sum)].next_of = state;
  net.Elementwise("add", {state, x}, sum);
  net.Conv("conv", sum, net.Constant("w", {2, 2, kernel, 1}), y, kernel, kernel / 2);
  return net.graph;
}

TEST(StateAliasing, LetsNoTwoTilesReplaceTheSame) {
  EXPECT_TRUE(graph::tiling::CanCut(SumThatIsRead(1), {0, 1}, 2));
  EXPECT_FALSE(graph::tiling::CanCut(SumThatIsRead(3), {0, 1}, 2));
  EXPECT_TRUE(graph::tiling::CanCut(SumThatIsRead(3), {0, 1}, 3));  // columns of tiles side by side
  EXPECT_TRUE(graph::tiling::CanCut(SumThatIsRead(3), {0, 0}, 2));
  EXPECT_TRUE(graph::tiling::CanCut(SumThatIsRead(3), {1, 1}, 2));
}

// The state is loaded tile by tile, and its next value is stored.
TEST(StatesInAnotherMemory, AreMovedLikeInputsAndOutputs) {
  Profile profile = WithConcat(TwoLevels(DmaSteps::kSerialized));
  Layout(profile, base::TensorRole::kState).home = 0;
  const Network net = CacheThatGrows(2);
  const program::Program program =
      ProgramOf(net.graph, profile, {{0, 1}, {1, 2, 4, 4}, program::Policy()});
  EXPECT_THAT(Describe(program.problem, "s0/cache@0"),
              "s0/cache@0: 32 bytes, [1,4), 1 dma w, 3 pe r");
  EXPECT_THAT(Describe(program.problem, "s0/all@0"),
              "s0/all@0: 32 bytes, [3,6), 3 pe w, 4 dma r, 5 pe r");
  EXPECT_THAT(DescribeColocations(program.problem), IsEmpty());
}

// Each of the two is direct if its own accesses are: the result is read inside, the state is not
// written.
TEST(StatesInAnotherMemory, AreDirectWhereEnginesReachThem) {
  Profile profile = WithConcat(TwoLevels(DmaSteps::kSerialized));
  Layout(profile, base::TensorRole::kState).home = 0;
  const Network net = CacheThatGrows(2);
  const auto has = [&](const std::string& id) {
    const program::Program program =
        ProgramOf(net.graph, profile, {{0, 1}, {1, 2, 8, 4}, program::Policy()});
    return !Describe(program.problem, id).empty();
  };
  profile.memories[0].direct_write = true;
  EXPECT_TRUE(has("s0/cache@0"));
  EXPECT_TRUE(has("s0/all@0"));
  profile.memories[0].direct_read = true;
  EXPECT_FALSE(has("s0/cache@0"));
  EXPECT_FALSE(has("s0/all@0"));
  profile.memories[0].direct_write = false;
  EXPECT_FALSE(has("s0/cache@0"));
  EXPECT_TRUE(has("s0/all@0"));
}

}  // namespace
}  // namespace tessera::encoder

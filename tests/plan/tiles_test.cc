// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace tessera::plan {
namespace {

using testing::ElementsAre;

std::vector<verify::Tile> TilesOf(const graph::Graph& network, const Subgraph& subgraph) {
  std::vector<verify::Tile> tiles;
  verify::ForEachTile(network, verify::FindUsers(network), subgraph,
                      [&](const verify::Tile& tile) { tiles.push_back(tile); });
  return tiles;
}

std::map<int, plan::Range> KeptRowsOf(const verify::Tile& tile) {
  std::map<int, plan::Range> rows;
  for (const auto& [tensor, kept] : tile.kept) rows[tensor] = kept[2];
  return rows;
}

// x -> a -> m -> b -> n -> c -> y, 3x3 without padding, on a map of 10 x 20.
graph::Graph ThreeValidConvs() {
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 1, 10, 20}), ConstantTensor("w", {1, 1, 3, 3}),
                     FeatureTensor("m", {1, 1, 8, 18}), FeatureTensor("n", {1, 1, 6, 16}),
                     FeatureTensor("y", {1, 1, 4, 14})};
  network.tensors[0].network_input = true;
  network.tensors[4].network_output = true;
  network.operators = {Conv3x3("a", 0, 1, 2), Conv3x3("b", 2, 1, 3), Conv3x3("c", 3, 1, 4)};
  for (graph::Operator& op : network.operators) op.window.pad_low = op.window.pad_high = {0, 0};
  return network;
}

TEST(Tiles, GrowByAHaloThroughThreeConvolutions) {
  Subgraph subgraph;
  subgraph.interval = {0, 2};
  subgraph.tile = {1, 1, 4, 4};
  const verify::Tile tile = TilesOf(ThreeValidConvs(), subgraph).front();
  EXPECT_THAT(plan::ExtentsOf(tile.needs.at(3)), ElementsAre(1, 1, 6, 6));
  EXPECT_THAT(plan::ExtentsOf(tile.needs.at(2)), ElementsAre(1, 1, 8, 8));
  EXPECT_THAT(plan::ExtentsOf(tile.needs.at(0)), ElementsAre(1, 1, 10, 10));
}

// The first example of docs/program.md on cached halos.
TEST(Tiles, ThatKeepRowsMakeEachRowOnce) {
  Subgraph subgraph;
  subgraph.interval = {0, 2};
  subgraph.tile = {1, 1, 2, 14};
  subgraph.halo = hw_profiles::HaloStorage::kRollingBuffer;
  const std::vector<verify::Tile> tiles = TilesOf(ThreeValidConvs(), subgraph);
  ASSERT_EQ(tiles.size(), 2U);
  EXPECT_THAT(plan::ExtentsOf(verify::MadeOf(tiles[0], 0)), ElementsAre(1, 1, 8, 20));
  EXPECT_EQ(tiles[1].needs.at(0)[2], (plan::Range{6, 10}));
  EXPECT_EQ(verify::MadeOf(tiles[1], 0)[2], (plan::Range{8, 10}));
  EXPECT_EQ(verify::MadeOf(tiles[1], 2)[2], (plan::Range{6, 8}));
  EXPECT_EQ(verify::MadeOf(tiles[1], 3)[2], (plan::Range{4, 6}));
  EXPECT_THAT(KeptRowsOf(tiles[1]),
              ElementsAre(std::pair(0, plan::Range{6, 8}), std::pair(2, plan::Range{4, 6}),
                          std::pair(3, plan::Range{2, 4})));
}

// Each strip starts without kept rows, and the last of two is narrower.
TEST(Tiles, ThatKeepRowsGoDownOneStripAfterTheOther) {
  Subgraph subgraph;
  subgraph.interval = {0, 2};
  subgraph.tile = {1, 1, 2, 8};
  subgraph.halo = hw_profiles::HaloStorage::kRollingBuffer;
  graph::Graph network = ThreeValidConvs();
  network.tensors[2].network_output = true;
  const std::vector<verify::Tile> tiles = TilesOf(network, subgraph);
  ASSERT_EQ(tiles.size(), 4U);
  EXPECT_EQ(tiles[1].shares.at(4), (plan::Box{{0, 1}, {0, 1}, {2, 4}, {0, 8}}));
  EXPECT_EQ(tiles[2].shares.at(4), (plan::Box{{0, 1}, {0, 1}, {0, 2}, {8, 14}}));
  EXPECT_EQ(verify::MadeOf(tiles[1], 3), (plan::Box{{0, 1}, {0, 1}, {4, 6}, {0, 10}}));
  EXPECT_EQ(verify::MadeOf(tiles[2], 3), (plan::Box{{0, 1}, {0, 1}, {0, 4}, {8, 16}}));
  EXPECT_THAT(KeptRowsOf(tiles[1]),
              ElementsAre(std::pair(0, plan::Range{6, 8}), std::pair(2, plan::Range{4, 6}),
                          std::pair(3, plan::Range{2, 4})));
  EXPECT_TRUE(tiles[2].kept.empty());
  // Columns 8 to 12 of m are made twice. Columns of either half leave once, as far as the halves
  // have no column in common.
  EXPECT_EQ(verify::MadeOf(tiles[0], 2)[3], (plan::Range{0, 12}));
  EXPECT_EQ(tiles[0].shares.at(2)[3], (plan::Range{0, 11}));
  EXPECT_EQ(tiles[2].shares.at(2)[3], (plan::Range{10, 18}));
}

// m leaves too: row 5 lies in the share of the second tile, but the first one makes it.
TEST(Tiles, ThatKeepRowsBringHomeWhatTheyMake) {
  graph::Graph network = ThreeValidConvs();
  network.tensors[2].network_output = true;
  Subgraph subgraph;
  subgraph.interval = {0, 2};
  subgraph.tile = {1, 1, 2, 14};
  subgraph.halo = hw_profiles::HaloStorage::kRollingBuffer;
  const std::vector<verify::Tile> tiles = TilesOf(network, subgraph);
  ASSERT_EQ(tiles.size(), 2U);
  EXPECT_EQ(tiles[0].shares.at(2)[2], (plan::Range{0, 6}));
  EXPECT_EQ(tiles[1].shares.at(2)[2], (plan::Range{6, 8}));
}

TEST(Tiles, ComeInRowMajorOrderWithRaggedEnds) {
  Subgraph subgraph;
  subgraph.interval = {2, 2};
  subgraph.tile = {1, 1, 3, 8};
  const std::vector<verify::Tile> tiles = TilesOf(ThreeValidConvs(), subgraph);
  ASSERT_EQ(tiles.size(), 4U);
  EXPECT_EQ(verify::CountTiles({1, 1, 4, 14}, subgraph.tile), 4);
  EXPECT_THAT(tiles[1].needs.at(4), ElementsAre(plan::Range{0, 1}, plan::Range{0, 1},
                                                plan::Range{0, 3}, plan::Range{8, 14}));
  EXPECT_THAT(tiles[2].needs.at(4), ElementsAre(plan::Range{0, 1}, plan::Range{0, 1},
                                                plan::Range{3, 4}, plan::Range{0, 8}));
}

TEST(Tiles, OtherOutputsAreSharedInProportionAndHulledWithInnerReaders) {
  graph::Graph network = ThreeValidConvs();
  network.tensors[3].network_output = true;  // n, 6 rows, leaves as well as y, 4 rows
  Subgraph subgraph;
  subgraph.interval = {0, 2};
  subgraph.tile = {1, 1, 3, 14};
  const std::vector<verify::Tile> tiles = TilesOf(network, subgraph);
  ASSERT_EQ(tiles.size(), 2U);
  EXPECT_EQ(tiles[0].shares.at(3)[2], (plan::Range{0, 5}));  // floor(0 * 6/4), ceil(3 * 6/4)
  EXPECT_EQ(tiles[1].shares.at(3)[2], (plan::Range{4, 6}));  // floor(3 * 6/4), ceil(4 * 6/4)
  EXPECT_EQ(tiles[1].needs.at(3)[2], (plan::Range{3, 6}));   // c reads rows 3 to 5 for its last row
}

TEST(Tiles, ABranchThatATileDoesNotTouchIsNotComputed) {
  graph::Graph network;
  network.tensors = {FeatureTensor("a", {1, 2, 3, 4}), FeatureTensor("b", {1, 2, 3, 4}),
                     FeatureTensor("y", {1, 2, 6, 4})};
  network.operators = {Concat(2, {0, 1}, 2)};
  Subgraph subgraph;
  subgraph.tile = {1, 2, 3, 4};
  const std::vector<verify::Tile> tiles = TilesOf(network, subgraph);
  ASSERT_EQ(tiles.size(), 2U);
  EXPECT_TRUE(plan::IsEmpty(tiles[0].needs.at(1)));
  EXPECT_TRUE(plan::IsEmpty(tiles[1].needs.at(0)));
}

// Products of two extents do not fit in 64 bits.
TEST(Tiles, ShareTensorsOfHugeExtents) {
  constexpr int64_t kRows = int64_t{3} << 31;
  graph::Graph network;
  for (const char* id : {"x", "a", "b"})
    network.tensors.push_back(FeatureTensor(id, {1, 1, kRows, 1}));
  network.tensors[0].network_input = true;
  network.tensors[1].network_output = network.tensors[2].network_output = true;
  for (const int i : {0, 1}) {
    graph::Operator& barrier = network.operators.emplace_back();
    barrier.kind = base::OperatorKind::kOpaque;
    barrier.inputs = {i};
    barrier.outputs = {i + 1};
  }
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {1, 1, kRows, 1};
  const std::vector<verify::Tile> tiles = TilesOf(network, subgraph);
  ASSERT_EQ(tiles.size(), 1U);
  EXPECT_EQ(tiles[0].shares.at(1)[2], (plan::Range{0, kRows}));
}

}  // namespace
}  // namespace tessera::plan

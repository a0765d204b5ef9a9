// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph_builder.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/cached_halo.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;

// The first example of docs/program.md.
TEST(TileKeepingRows, PatentChainMakesEachRowOnce) {
  GraphBuilder builder;
  const int input = builder.AddInput({1, 3, 10, 20});
  builder.AddConv(builder.AddConv(builder.AddConv(input, 8, 3), 8, 3), 4, 3);
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, {0, 2}, {1, 4, 2, 14});
  ASSERT_EQ(tiled.tiles, 2);
  EXPECT_EQ(tiled.rows, (std::vector<tiling::RowCounts>{
                            {2, 8, 8, 10}, {2, 6, 6, 8}, {2, 4, 4, 6}, {0, 2, 2, 4}}));
  const tiling::TileClass& second = tiled.classes[static_cast<size_t>(tiled.class_of[1])];
  EXPECT_EQ(second.needed[0], (tiling::Extents{1, 3, 4, 20}));
  EXPECT_EQ(second.made[0], (tiling::Extents{1, 3, 2, 20}));
  EXPECT_EQ(second.keeps, (std::vector<int64_t>{0, 0, 0, 0}));
  for (size_t op = 0; op < 3; ++op) {
    int64_t macs = 0;
    for (const tiling::TileClass& tiles : tiled.classes) macs += tiles.count * tiles.macs[op];
    EXPECT_EQ(macs, MacsOf(graph, graph.operators[op], ops::WholeBox(graph.tensors[op + 1].shape)));
  }
}

// The second example of docs/program.md.
TEST(TileKeepingRows, AnUpsampledConvolutionIsIdleInEverySecondTile) {
  GraphBuilder builder;
  const int a = builder.AddConv(builder.AddInput({1, 1, 4, 4}), 1, 3, 1, 1);
  ops::Wanted wanted;
  wanted.size = {8, 4};
  builder.Add(OfKind(OperatorKind::kResize), wanted, {a}).value();
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, {0, 1}, {1, 1, 1, 4});
  std::vector<int64_t> made_of_a;
  std::vector<int64_t> made_of_x;
  std::vector<int64_t> kept_of_x;
  for (const int c : tiled.class_of) {
    const tiling::TileClass& tiles = tiled.classes[static_cast<size_t>(c)];
    made_of_x.push_back(tiles.made[0][2]);
    kept_of_x.push_back(tiles.kept[0]);
    made_of_a.push_back(tiles.made[1][2]);
  }
  EXPECT_EQ(made_of_a, (std::vector<int64_t>{1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(made_of_x, (std::vector<int64_t>{2, 0, 1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(kept_of_x, (std::vector<int64_t>{0, 2, 2, 2, 2, 2, 2, 0}));
  EXPECT_EQ(tiled.rows[0], (tiling::RowCounts{2, 2, 3, 3}));
  EXPECT_EQ(tiled.rows[1], (tiling::RowCounts{1, 1, 1, 2}));
}

// A skip keeps its rows until the slower branch has used them.
TEST(TileKeepingRows, ASkipWaitsForTheSlowerBranch) {
  GraphBuilder builder;
  const int input = builder.AddInput({1, 1, 8, 4});
  int branch = input;
  for (int i = 0; i < 3; ++i) branch = builder.AddConv(branch, 1, 3, 1, 1);
  builder.AddSum(input, branch);
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, {0, 3}, {1, 1, 1, 4});
  // Tile 3 sums row 3, for which the first convolution makes row 5 of rows 4, 5 and 6: the tile
  // holds rows 3 to 6.
  EXPECT_EQ(tiled.rows[0], (tiling::RowCounts{3, 4, 4, 5}));
}

TEST(TileKeepingRows, OperandThatEveryTileWantsWholeIsLoadedOnce) {
  GraphBuilder builder;
  const int rows = builder.AddInput({1, 4, 6});
  const int matrix = builder.AddInput({1, 6, 5});
  builder.Add(OfKind(OperatorKind::kMatmul), {}, {rows, matrix}).value();
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, {0, 0}, {1, 1, 5});
  EXPECT_EQ(tiled.rows[0].kept, 0);
  EXPECT_EQ(tiled.rows[1], (tiling::RowCounts{6, 6, 6, 6}));
}

// Two strips of four columns: the second 3x3 needs five columns of the first, and either strip
// makes its own.
TEST(TileKeepingRows, EveryStripMakesTheColumnsThatItNeeds) {
  GraphBuilder builder;
  const int a = builder.AddConv(builder.AddInput({1, 1, 8, 8}), 2, 3, 1, 1);
  builder.AddConv(a, 1, 3, 1, 1);
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, {0, 1}, {1, 1, 2, 4});
  ASSERT_EQ(tiled.tiles, 8);
  EXPECT_EQ(tiled.class_of, (std::vector<int>{0, 1, 1, 2, 0, 1, 1, 2}));
  EXPECT_EQ(tiled.classes[0].made[1], (tiling::Extents{1, 2, 3, 5}));
  EXPECT_EQ(tiled.classes[1].made[1], (tiling::Extents{1, 2, 2, 5}));
  EXPECT_EQ(tiled.classes[2].made[1], (tiling::Extents{1, 2, 1, 5}));
  // The last tile of one strip holds 3 rows; the first of the next makes 3.
  EXPECT_EQ(tiled.rows[1], (tiling::RowCounts{2, 3, 4, 6}));
}

// Keys and values are loaded once for each part of the heads, queries once altogether.
TEST(TileKeepingRows, KeysAndValuesStayForTheirHeads) {
  GraphBuilder builder;
  const int query = builder.AddInput({4, 6, 5});
  const int key = builder.AddInput({4, 7, 5});
  Operator scores = OfKind(OperatorKind::kMatmul);
  scores.MakeOwn<MatmulAttributes>().transpose_second = true;
  builder.Add(std::move(scores), {}, {query, key}).value();
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, {0, 0}, {2, 2, 7});
  ASSERT_EQ(tiled.tiles, 6);
  std::vector<int64_t> made;
  std::vector<int64_t> kept;
  for (const int each : tiled.class_of) {
    made.push_back(tiled.classes[static_cast<size_t>(each)].made[1][1]);
    kept.push_back(tiled.classes[static_cast<size_t>(each)].kept[1]);
  }
  EXPECT_EQ(made, (std::vector<int64_t>{7, 0, 0, 7, 0, 0}));
  EXPECT_EQ(kept, (std::vector<int64_t>{0, 7, 7, 0, 7, 7}));
  EXPECT_EQ(tiled.rows[0], (tiling::RowCounts{0, 2, 2, 4}));
  EXPECT_EQ(tiled.rows[1], (tiling::RowCounts{7, 7, 7, 14}));
  EXPECT_EQ(tiled.largest[1], (tiling::Extents{2, 7, 5}));
}

TEST(CutsStrips, IsACutOfRowsPerhapsOfColumnsAndTheBatchAndOfNothingElse) {
  EXPECT_TRUE(tiling::CutsStrips({1, 4, 8, 8}, {1, 4, 3, 8}));
  EXPECT_TRUE(tiling::CutsStrips({1, 4, 8, 8}, {1, 4, 3, 5}));
  EXPECT_FALSE(tiling::CutsStrips({1, 4, 8, 8}, {1, 4, 8, 8}));
  EXPECT_FALSE(tiling::CutsStrips({1, 4, 8, 8}, {1, 2, 3, 8}));
  EXPECT_FALSE(tiling::CutsStrips({1, 4, 8, 8}, {1, 4, 8, 3}));
  EXPECT_TRUE(tiling::CutsStrips({6, 4}, {2, 4}));
  EXPECT_FALSE(tiling::CutsStrips({6, 4}, {2, 2}));
  EXPECT_FALSE(tiling::CutsStrips({6}, {2}));
  EXPECT_TRUE(tiling::CutsStrips({4, 4, 8, 8}, {1, 4, 3, 8}));
  EXPECT_FALSE(tiling::CutsStrips({4, 4, 8, 8}, {1, 4, 8, 8}));
  EXPECT_TRUE(tiling::CutsStrips({4, 8, 6}, {3, 2, 6}));
}

// At every poll. Strips that lie wholly in the pads are swept one by one.
TEST(TileKeepingRows, HasNoTilesIfTheStopCameFirst) {
  for (const int64_t pad : {1, 40}) {
    GraphBuilder builder;
    const int output = builder.AddConv(builder.AddInput({1, 1, 60, 60}), 1, 3, 1, pad);
    const Shape shape = builder.ShapeOf(output);
    const Graph graph = std::move(builder).Build();
    const tiling::TileShape tile = {1, 1, 1, 1};
    const base::Stop never(base::Stop::AtPoll{1'000'000});
    ASSERT_EQ(tiling::Tiler(graph, {0, 0}, &never).CutKeepingRows(tile, true).tiles,
              shape[2] * shape[3]);
    ASSERT_GE(never.Polls(), 2);
    for (int64_t poll = 1; poll <= never.Polls(); ++poll) {
      const base::Stop stop(base::Stop::AtPoll{poll});
      EXPECT_EQ(tiling::Tiler(graph, {0, 0}, &stop).CutKeepingRows(tile, true).tiles, 0);
    }
  }
}

}  // namespace
}  // namespace tessera::graph

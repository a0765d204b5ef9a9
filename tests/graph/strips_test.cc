#include "tessera/graph/strips.h"

#include <gtest/gtest.h>

#include "graph_builder.h"

namespace tessera::graph {
namespace {

TEST(CutsStrips, IsACutOfRowsPerhapsOfColumnsAndTheBatchAndOfNothingElse) {
  EXPECT_TRUE(CutsStrips({1, 4, 8, 8}, {1, 4, 3, 8}));
  EXPECT_TRUE(CutsStrips({1, 4, 8, 8}, {1, 4, 3, 5}));
  EXPECT_FALSE(CutsStrips({1, 4, 8, 8}, {1, 4, 8, 8}));
  EXPECT_FALSE(CutsStrips({1, 4, 8, 8}, {1, 2, 3, 8}));
  EXPECT_FALSE(CutsStrips({1, 4, 8, 8}, {1, 4, 8, 3}));
  EXPECT_TRUE(CutsStrips({6, 4}, {2, 4}));
  EXPECT_FALSE(CutsStrips({6, 4}, {2, 2}));
  EXPECT_FALSE(CutsStrips({6}, {2}));
  EXPECT_TRUE(CutsStrips({4, 4, 8, 8}, {1, 4, 3, 8}));
  EXPECT_FALSE(CutsStrips({4, 4, 8, 8}, {1, 4, 8, 8}));
  EXPECT_TRUE(CutsStrips({4, 8, 6}, {3, 2, 6}));
}

// Convolutions of a 3x3 window, padded by 1, on eight columns in tiles of two: strips at the borders need fewer columns.
TEST(FindStrips, ThatNeedAsMuchAreAlike) {
  GraphBuilder builder;
  const int x = builder.AddInput({1, 1, 6, 8});
  builder.AddConv(builder.AddConv(x, 1, 3, 1, 1), 1, 3, 1, 1);
  const Graph graph = std::move(builder).Build();
  const Propagation propagation(graph, {0, 1});
  const TileShape tile = {1, 1, 2, 2};
  const Strips strips = FindStrips(propagation, tile, /*one_by_one=*/false);
  EXPECT_FALSE(strips.tied);
  EXPECT_EQ(strips.like, (std::vector<size_t>{0, 1, 1, 0}));
  ASSERT_EQ(strips.boxes.size(), 2U);
  EXPECT_EQ(strips.boxes[1], (Box{{0, 1}, {0, 1}, {0, 6}, {2, 4}}));
  const std::vector<Box> tiles = TilesOf(strips, {1, 1, 6, 8}, tile);
  ASSERT_EQ(tiles.size(), 6U);
  EXPECT_EQ(tiles[4], (Box{{0, 1}, {0, 1}, {2, 4}, {2, 4}}));
  EXPECT_EQ(FindStrips(propagation, tile, /*one_by_one=*/true).boxes.size(), 4U);
}

// Rows and columns in one axis of the input.
TEST(FindStrips, OfTiedAxesAreOneOfAKind) {
  Operator reshape = OfKind(base::OperatorKind::kReshape);
  Wanted wanted;
  wanted.shape = Shape{1, 1, 4, 4};
  const Graph graph = OneOperator(reshape, wanted, {{1, 1, 16}});
  const Strips strips = FindStrips(Propagation(graph, {0, 0}), {1, 1, 2, 2}, /*one_by_one=*/false);
  EXPECT_TRUE(strips.tied);
  EXPECT_EQ(strips.like, (std::vector<size_t>{0, 1}));
}

}  // namespace
}  // namespace tessera::graph

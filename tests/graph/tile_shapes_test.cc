// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "graph_builder.h"
#include "random_graph.h"
#include "tessera/base/arithmetic.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::graph {
namespace {

Graph OneConv(Shape input, int64_t channels) {
  GraphBuilder builder;
  builder.AddConv(builder.AddInput(std::move(input)), channels, 1);
  return std::move(builder).Build();
}

using Extents2 = std::vector<std::vector<int64_t>>;

TEST(TileShapes, AreEvenCutsRoundedToTheGranularity) {
  const Graph graph = OneConv({1, 8, 10, 10}, 24);
  const tiling::ShapeGrid rows = tiling::TileShapes(graph, {0, 0}, {{base::Axis::kRows, 1}});
  EXPECT_EQ(rows.extents, (Extents2{{1}, {24}, {1, 2, 3, 4, 5, 10}, {10}}));
  EXPECT_FALSE(rows.thinned);
  EXPECT_EQ(tiling::TileShapes(graph, {0, 0}, {{base::Axis::kChannels, 16}}).extents,
            (Extents2{{1}, {16, 24}, {10}, {10}}));
}

TEST(TileShapes, OnlyTheWholeWhereNothingMayBeCut) {
  GraphBuilder builder;
  builder.AddConv(builder.AddConv(builder.AddInput({1, 2, 8, 6}), 3, 1), 4, 1);
  const Graph graph = std::move(builder).Build();
  const tiling::ShapeGrid grid =
      tiling::TileShapes(graph, {0, 1}, {{base::Axis::kChannels, 1}, {base::Axis::kBatch, 1}});
  EXPECT_EQ(tiling::ShapesOf(grid), (std::vector<tiling::TileShape>{{1, 4, 8, 6}}));
}

TEST(TileShapes, AnyOtherExtentMakesAsManyTilesAsASmallerOneOfTheGrid) {
  for (const int64_t extent : {1, 2, 7, 48, 97, 360}) {
    for (const int64_t granularity : {1, 3, 16}) {
      const tiling::ShapeGrid grid = tiling::TileShapes(OneConv({1, 1, extent, 2}, 1), {0, 0},
                                                        {{base::Axis::kRows, granularity}});
      ASSERT_FALSE(grid.thinned);
      const std::vector<int64_t>& extents = grid.extents[2];
      for (int64_t any = granularity; any <= extent; any += granularity) {
        EXPECT_TRUE(std::any_of(extents.begin(), extents.end(),
                                [&](int64_t listed) {
                                  return listed <= any && base::CeilDiv(extent, listed) ==
                                                              base::CeilDiv(extent, any);
                                }))
            << any << " of " << extent;
      }
    }
  }
}

TEST(TileShapes, SayWhenAnAxisHasMoreThanAreListed) {
  const tiling::ShapeGrid many =
      tiling::TileShapes(OneConv({1, 1, 10'000, 2}, 1), {0, 0}, {{base::Axis::kRows, 1}});
  EXPECT_TRUE(many.thinned);
  EXPECT_EQ(many.extents[2].size(), tiling::kMostExtents);
  EXPECT_EQ(many.extents[2].front(), 1);
  EXPECT_EQ(many.extents[2].back(), 10'000);
}

TEST(TileShapes, ReportWhenTheLeastExtentsMakeTooManyTilesToCount) {
  const tiling::ShapeGrid grid =
      tiling::TileShapes(OneConv({1, 1, int64_t{1} << 40, 2}, 1), {0, 0}, {{base::Axis::kRows, 1}});
  EXPECT_TRUE(grid.thinned);
  EXPECT_EQ(grid.extents[2].front(), int64_t{1} << 20);
}

TEST(ShapesOf, AreAllCombinationsWithFewEnoughTiles) {
  const tiling::ShapeGrid grid{.extents = {{1, 1 << 12}, {1, 4, 1 << 11}}, .thinned = false};
  EXPECT_EQ(tiling::CountShapes(grid), 6);
  // 1 x 1 makes 2^23 tiles, 1 x 4 2^21.
  EXPECT_EQ(tiling::ShapesOf(grid),
            (std::vector<tiling::TileShape>{
                {1, 1 << 11}, {1 << 12, 1}, {1 << 12, 4}, {1 << 12, 1 << 11}}));
}

TEST(Thin, KeepsFirstAndLast) {
  EXPECT_EQ(tiling::Thin({1, 2, 3, 4, 5, 6, 7}, 3), (std::vector<int64_t>{1, 4, 7}));
  EXPECT_EQ(tiling::Thin({1, 2}, 3), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(tiling::Thin({1, 2, 3}, 1), (std::vector<int64_t>{3}));
  EXPECT_TRUE(tiling::Thin({}, 3).empty());
}

}  // namespace
}  // namespace tessera::graph

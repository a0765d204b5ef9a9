// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph_builder.h"
#include "random_graph.h"
#include "tessera/base/random.h"
#include "tessera/graph/tiling/cached_halo.h"

namespace tessera::graph {
namespace {

bool AlwaysCounts(int) { return true; }

// Cuts by every tile shape and compares.
bool AnyShares(const Graph& graph, Interval interval, const Shape& output) {
  tiling::ShapeGrid grid;
  for (size_t axis = 0; axis < output.size(); ++axis) {
    std::vector<int64_t>& extents = grid.extents.emplace_back();
    for (int64_t extent = tiling::CanCut(graph, interval, axis) ? 1 : output[axis];
         extent <= output[axis]; ++extent)
      extents.push_back(extent);
  }
  for (const tiling::TileShape& tile : tiling::ShapesOf(grid)) {
    if (!tiling::CutsStrips(output, tile)) continue;
    const tiling::TiledSubgraph tiled = tiling::TileKeepingRows(graph, interval, tile);
    if (std::any_of(tiled.rows.begin(), tiled.rows.end(),
                    [](const tiling::RowCounts& rows) { return rows.kept > 0 || rows.shared > 0; }))
      return true;
  }
  return false;
}

TEST(MayShareRows, IsRightAboutWindows) {
  for (const int64_t kernel : {1, 2, 3}) {
    for (const int64_t stride : {1, 2, 3}) {
      GraphBuilder builder;
      builder.AddConv(builder.AddInput({1, 1, 12, 4}), 1, kernel, stride);
      const Graph graph = std::move(builder).Build();
      EXPECT_EQ(tiling::MayShareRows(graph, {0, 0}, AlwaysCounts), kernel > stride)
          << kernel << ", " << stride;
    }
  }
}

TEST(MayShareRows, LooksAtWhatCountsAlone) {
  GraphBuilder builder;
  const int x = builder.AddInput({1, 1, 12, 4});
  builder.AddConv(x, 1, 3);
  const Graph graph = std::move(builder).Build();
  EXPECT_TRUE(tiling::MayShareRows(graph, {0, 0}, AlwaysCounts));
  EXPECT_FALSE(tiling::MayShareRows(graph, {0, 0}, [x](int tensor) { return tensor != x; }));
}

TEST(MayShareRows, IsTrueWhereverSomeTileSharesARow) {
  int shared = 0;
  int not_shared = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    base::Random random(seed);
    const Graph graph = RandomGraph(random, static_cast<int>(random.Uniform(1, 4)));
    const Interval interval = {0, static_cast<int>(graph.operators.size()) - 1};
    const Shape& output =
        graph.tensors[static_cast<size_t>(graph.operators.back().outputs.front())].shape;
    const std::optional<size_t> rows = tiling::AxisOf(output, base::Axis::kRows);
    if (!rows || output[*rows] < 2 || !tiling::CanCut(graph, interval, *rows)) continue;
    const bool may = tiling::MayShareRows(graph, interval, AlwaysCounts);
    if (AnyShares(graph, interval, output)) {
      ++shared;
      EXPECT_TRUE(may) << seed;
    }
    not_shared += may ? 0 : 1;
  }
  EXPECT_GE(shared, 80);
  EXPECT_GE(not_shared, 20);
}

}  // namespace
}  // namespace tessera::graph

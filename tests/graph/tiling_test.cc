// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/tiling.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "graph_builder.h"
#include "random_graph.h"
#include "tessera/base/arithmetic.h"
#include "tessera/graph/regions.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;

const Tensor& TensorAt(const Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

// Whether a tensor made in the interval has a reader behind it, or no reader; the last output
// always leaves.
bool Leaves(const Graph& graph, Interval interval, int tensor) {
  const Usage usage = UsagesOf(graph)[static_cast<size_t>(tensor)];
  if (usage.producer < interval.first || usage.producer > interval.last) return false;
  return usage.producer == interval.last || TensorAt(graph, tensor).network_output ||
         usage.consumers.back() > interval.last;
}

ops::Box Share(const Shape& last, const Shape& shape, const ops::Box& tile) {
  ops::Box share = ops::WholeBox(shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::optional<size_t> source;
    if (shape.size() == last.size()) source = axis;
    for (const base::Axis name :
         {base::Axis::kRows, base::Axis::kColumns, base::Axis::kChannels, base::Axis::kBatch}) {
      if (shape.size() != last.size() && tiling::AxisOf(shape, name) == axis)
        source = tiling::AxisOf(last, name);
    }
    if (!source) continue;
    share[axis] = {base::FloorDiv(tile[*source].begin * shape[axis], last[*source]),
                   base::CeilDiv(tile[*source].end * shape[axis], last[*source])};
  }
  return share;
}

// One tile, box by box: the region of each tensor that the definition in tiling.h requires.
std::vector<ops::Box> NaiveRegions(const Graph& graph, Interval interval, const ops::Box& tile,
                                   const std::vector<int>& tensors) {
  std::map<int, ops::Box> asked;
  const Shape& last =
      TensorAt(graph, graph.operators[static_cast<size_t>(interval.last)].outputs[0]).shape;
  for (const int tensor : tensors) {
    const Shape& shape = TensorAt(graph, tensor).shape;
    asked[tensor] =
        Leaves(graph, interval, tensor) ? Share(last, shape, tile) : ops::Box(shape.size());
  }
  for (int i = interval.last; i >= interval.first; --i) {
    const Operator& op = graph.operators[static_cast<size_t>(i)];
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      ops::Box& box = asked[op.inputs[input]];
      box = ops::Hull(box, InputRegion(graph, op, input, asked[op.outputs[0]]));
    }
  }
  std::vector<ops::Box> regions;
  for (const int tensor : tensors) regions.push_back(asked[tensor]);
  return regions;
}

tiling::Extents LengthsOf(const ops::Box& box) {
  tiling::Extents lengths;
  for (const ops::Extent& extent : box) lengths.push_back(extent.Length());
  return lengths;
}

std::vector<ops::Box> AllTiles(const Shape& shape, const tiling::TileShape& tile) {
  std::vector<ops::Box> tiles = {{}};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<ops::Box> longer;
    for (const ops::Box& box : tiles) {
      for (int64_t begin = 0; begin < shape[axis]; begin += tile[axis]) {
        longer.push_back(box);
        longer.back().push_back({begin, std::min(begin + tile[axis], shape[axis])});
      }
    }
    tiles = std::move(longer);
  }
  return tiles;
}

void ExpectSameAsNaive(const Graph& graph, Interval interval, const tiling::TileShape& tile) {
  const tiling::TiledSubgraph found = tiling::Tile(graph, interval, tile);
  const Shape& last =
      TensorAt(graph, graph.operators[static_cast<size_t>(interval.last)].outputs[0]).shape;
  const std::vector<ops::Box> tiles = AllTiles(last, tile);
  RC_ASSERT(found.tiles == static_cast<int64_t>(tiles.size()));
  RC_ASSERT(found.class_of.size() == tiles.size());
  std::vector<int64_t> counts(found.classes.size(), 0);
  std::vector<tiling::Extents> largest;
  for (const int tensor : found.tensors)
    largest.emplace_back(TensorAt(graph, tensor).shape.size(), 0);
  int next_class = 0;
  for (size_t t = 0; t < tiles.size(); ++t) {
    RC_ASSERT(found.class_of[t] <= next_class);
    next_class = std::max(next_class, found.class_of[t] + 1);
    const tiling::TileClass& tile_class = found.classes[static_cast<size_t>(found.class_of[t])];
    ++counts[static_cast<size_t>(found.class_of[t])];
    const std::vector<ops::Box> regions = NaiveRegions(graph, interval, tiles[t], found.tensors);
    RC_ASSERT(tiling::RegionsOfTile(graph, interval, tiles[t]) == regions);
    for (size_t slot = 0; slot < regions.size(); ++slot) {
      const int tensor = found.tensors[slot];
      const tiling::Extents lengths = LengthsOf(regions[slot]);
      RC_ASSERT(tile_class.needed[slot] == lengths);
      for (size_t a = 0; a < lengths.size(); ++a)
        largest[slot][a] = std::max(largest[slot][a], lengths[a]);
      const bool leaves = Leaves(graph, interval, tensor);
      const tiling::Extents share =
          leaves ? LengthsOf(Share(last, TensorAt(graph, tensor).shape, tiles[t]))
                 : tiling::Extents{};
      RC_ASSERT(tile_class.share[slot] == share);
    }
    for (int i = interval.first; i <= interval.last; ++i) {
      const Operator& op = graph.operators[static_cast<size_t>(i)];
      const auto slot = std::find(found.tensors.begin(), found.tensors.end(), op.outputs[0]) -
                        found.tensors.begin();
      RC_ASSERT(tile_class.macs[static_cast<size_t>(i - interval.first)] ==
                MacsOf(graph, op, regions[static_cast<size_t>(slot)]));
    }
  }
  RC_ASSERT(found.largest == largest);
  std::set<std::pair<tiling::ExtentsList, tiling::ExtentsList>> distinct;
  for (size_t c = 0; c < counts.size(); ++c) {
    RC_ASSERT(found.classes[c].count == counts[c]);
    distinct.emplace(found.classes[c].needed, found.classes[c].share);
  }
  RC_ASSERT(distinct.size() == found.classes.size());
}

TEST(Tile, EqualsPropagationTileByTile) {
  int several_classes = 0;
  int needs_nothing = 0;
  const bool held = rc::check("classes equal the tiles one by one", [&] {
    const uint64_t seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>());
    base::Random random(seed);
    for (int round = 0; round < 20; ++round) {
      const Graph graph = RandomGraph(random, static_cast<int>(random.Uniform(1, 8)));
      const auto last =
          static_cast<int>(random.Uniform(0, static_cast<int64_t>(graph.operators.size()) - 1));
      const Interval interval{static_cast<int>(random.Uniform(0, last)), last};
      const Shape& output =
          TensorAt(graph, graph.operators[static_cast<size_t>(last)].outputs[0]).shape;
      if (ElementsOf(output) > 1500) continue;
      tiling::TileShape tile;
      for (const int64_t extent : output)
        tile.push_back(random.Chance(0.4) ? extent : random.Uniform(1, extent));
      ExpectSameAsNaive(graph, interval, tile);
      const tiling::TiledSubgraph tiled = tiling::Tile(graph, interval, tile);
      several_classes += tiled.classes.size() > 2 ? 1 : 0;
      for (const tiling::TileClass& c : tiled.classes) {
        bool none = false;
        for (size_t slot = 0; slot < c.needed.size(); ++slot) {
          const tiling::ExtentsView e = c.needed[slot];
          none =
              none || std::all_of(e.begin(), e.end(), [](int64_t length) { return length == 0; });
        }
        needs_nothing += none ? 1 : 0;
      }
    }
  });
  EXPECT_TRUE(held);
  EXPECT_GE(several_classes, 50);
  EXPECT_GE(needs_nothing, 20);
}

Graph PatentChain() {
  GraphBuilder builder;
  const int input = builder.AddInput({1, 3, 10, 20});
  builder.AddConv(builder.AddConv(builder.AddConv(input, 8, 3), 8, 3), 4, 3);
  return std::move(builder).Build();
}

TEST(Tile, PatentRegions) {
  const Graph graph = PatentChain();
  const std::vector<ops::Box> regions =
      tiling::RegionsOfTile(graph, {0, 2}, {{0, 1}, {0, 4}, {0, 4}, {4, 8}});
  EXPECT_EQ(LengthsOf(regions[3]), (tiling::Extents{1, 4, 4, 4}));
  EXPECT_EQ(LengthsOf(regions[2]), (tiling::Extents{1, 8, 6, 6}));
  EXPECT_EQ(LengthsOf(regions[1]), (tiling::Extents{1, 8, 8, 8}));
  EXPECT_EQ(LengthsOf(regions[0]), (tiling::Extents{1, 3, 10, 10}));
  EXPECT_EQ(regions[0][3], (ops::Extent{4, 14}));
  EXPECT_EQ(graph.tensors[1].shape, (Shape{1, 8, 8, 18}));
  EXPECT_EQ(graph.tensors[2].shape, (Shape{1, 8, 6, 16}));
  EXPECT_EQ(graph.tensors[3].shape, (Shape{1, 4, 4, 14}));
}

TEST(Tile, PaddedConvolutionHasFirstSteadyAndLastTiles) {
  GraphBuilder builder;
  builder.AddConv(builder.AddInput({1, 1, 12, 12}), 1, 3, 1, 1);
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::Tile(graph, {0, 0}, {1, 1, 4, 12});
  EXPECT_EQ(tiled.tiles, 3);
  ASSERT_EQ(tiled.classes.size(), 2U);  // first and last need 5 rows, the middle one 6
  EXPECT_EQ(tiled.classes[0].count, 2);
  EXPECT_EQ(tiled.classes[0].needed[0], (tiling::Extents{1, 1, 5, 12}));
  EXPECT_EQ(tiled.classes[1].needed[0], (tiling::Extents{1, 1, 6, 12}));
  EXPECT_EQ(tiled.class_of, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(tiled.largest[0], (tiling::Extents{1, 1, 6, 12}));
}

TEST(Tile, SkipHoldsTheHull) {
  GraphBuilder builder;
  const int a = builder.AddConv(builder.AddInput({1, 2, 8, 8}), 2, 1);
  builder.AddSum(a, builder.AddConv(a, 2, 3, 1, 1));
  const Graph graph = std::move(builder).Build();
  const std::vector<ops::Box> regions =
      tiling::RegionsOfTile(graph, {0, 2}, {{0, 1}, {0, 2}, {2, 4}, {0, 8}});
  EXPECT_EQ(regions[static_cast<size_t>(a)][2], (ops::Extent{1, 5}));
}

TEST(Tile, ConcatBranchOutsideTheTileIsNotMade) {
  GraphBuilder builder;
  const int input = builder.AddInput({1, 4, 4, 4});
  const int left = builder.AddConv(input, 2, 3, 1, 1);
  const int right = builder.AddConv(input, 2, 1);
  builder.AddConcat({left, right}, 1);
  const Graph graph = std::move(builder).Build();
  const tiling::TiledSubgraph tiled = tiling::Tile(graph, {0, 2}, {1, 2, 4, 4});
  ASSERT_EQ(tiled.classes.size(), 2U);
  EXPECT_EQ(tiled.classes[0].macs, (std::vector<int64_t>{4 * 4 * 2 * 9 * 4, 0, 0}));
  EXPECT_EQ(tiled.classes[1].macs, (std::vector<int64_t>{0, 4 * 4 * 2 * 4, 0}));
  EXPECT_EQ(tiled.classes[1].needed[static_cast<size_t>(left)], (tiling::Extents{0, 0, 0, 0}));
}

TEST(Tile, OpaqueOperatorMakesAllItsOutputsWhole) {
  Graph graph;
  for (const int64_t bytes : {4, 3, 2}) {
    Tensor tensor;
    tensor.id = "t" + std::to_string(bytes);
    tensor.shape = {bytes};
    graph.tensors.push_back(tensor);
  }
  graph.tensors[2].network_output = true;
  Operator first = OfKind(OperatorKind::kOpaque);
  first.outputs = {0, 1};
  Operator second = OfKind(OperatorKind::kOpaque);
  second.inputs = {0};
  second.outputs = {2};
  second.macs = 7;
  graph.operators = {first, second};
  const tiling::TiledSubgraph tiled = tiling::Tile(graph, {0, 1}, {2});
  ASSERT_EQ(tiled.classes.size(), 1U);
  ASSERT_EQ(tiled.classes[0].needed.size(), 3U);
  for (const size_t slot : {0U, 1U, 2U})
    EXPECT_EQ(tiled.classes[0].needed[slot], (tiling::Extents{4 - static_cast<int64_t>(slot)}));
  EXPECT_EQ(tiled.classes[0].macs, (std::vector<int64_t>{0, 7}));
}

TEST(CanCut, RowsThroughConvolutionsButNotChannels) {
  const Graph graph = PatentChain();
  EXPECT_TRUE(tiling::CanCut(graph, {0, 2}, 2));
  EXPECT_TRUE(tiling::CanCut(graph, {0, 2}, 3));
  EXPECT_FALSE(tiling::CanCut(graph, {0, 2}, 1));  // every tile would make conv2 whole
  EXPECT_TRUE(tiling::CanCut(graph, {2, 2}, 1));   // conv2 comes from outside, only weights are cut
  EXPECT_FALSE(tiling::CanCut(graph, {0, 2}, 0));  // a batch of one
}

TEST(CanCut, NotAlongAReducedAxis) {
  GraphBuilder builder;
  Operator softmax = OfKind(OperatorKind::kSoftmax);
  softmax.axes = {2};
  builder.Add(softmax, {}, {builder.AddInput({1, 8, 8})}).value();
  const Graph graph = std::move(builder).Build();
  EXPECT_FALSE(tiling::CanCut(graph, {0, 0}, 2));
  EXPECT_TRUE(tiling::CanCut(graph, {0, 0}, 1));
}

TEST(CanCut, AttentionRowsWhileKeysComeFromOutside) {
  GraphBuilder builder;
  const int tokens = builder.AddInput({1, 8, 4});
  ops::Wanted columns;
  columns.columns = 4;
  const int query = builder.Add(OfKind(OperatorKind::kMatmul), columns, {tokens}).value();
  const int key = builder.Add(OfKind(OperatorKind::kMatmul), columns, {tokens}).value();
  Operator scores = OfKind(OperatorKind::kMatmul);
  scores.MakeOwn<MatmulAttributes>().transpose_second = true;
  builder.Add(scores, {}, {query, key}).value();
  const Graph graph = std::move(builder).Build();
  EXPECT_TRUE(tiling::CanCut(graph, {2, 2}, 1));
  EXPECT_FALSE(tiling::CanCut(graph, {1, 2}, 1));  // keys made inside are needed whole
}

TEST(FreeClasses, LeavesTheRestOfTheTiling) {
  GraphBuilder builder;
  builder.Add(OfKind(OperatorKind::kElementwise), {}, {builder.AddInput({1, 8, 100, 100})}).value();
  const Graph graph = std::move(builder).Build();
  base::Stop ended;
  ended.EndProcess();
  ended.Request();
  const base::Stop never;
  for (const base::Stop* stop :
       {static_cast<const base::Stop*>(nullptr), &never, static_cast<const base::Stop*>(&ended)}) {
    tiling::TiledSubgraph tiles = tiling::Tile(graph, {0, 0}, {1, 8, 3, 100});
    ASSERT_EQ(tiles.classes.size(), 2U);
    tiling::FreeClasses(tiles, stop);
    EXPECT_TRUE(tiles.classes.empty());
    EXPECT_TRUE(tiles.class_of.empty());
    EXPECT_EQ(tiles.tiles, 34);
  }
}

TEST(AxisOf, NamesFollowTheRank) {
  EXPECT_EQ(tiling::AxisOf({1, 2, 3, 4}, base::Axis::kChannels), 1U);
  EXPECT_EQ(tiling::AxisOf({1, 2, 3}, base::Axis::kChannels), 2U);
  EXPECT_EQ(tiling::AxisOf({2, 3}, base::Axis::kRows), 0U);
  EXPECT_EQ(tiling::AxisOf({2, 3}, base::Axis::kBatch), std::nullopt);
  EXPECT_EQ(tiling::AxisOf({3}, base::Axis::kChannels), 0U);
  EXPECT_EQ(tiling::AxisOf({6, 5, 4, 3, 2}, base::Axis::kBatch), 0U);
  EXPECT_EQ(tiling::AxisOf({6, 5, 4, 3, 2}, base::Axis::kRows), 3U);
  EXPECT_EQ(tiling::AxisOf({6, 5, 4, 3, 2}, base::Axis::kChannels), 4U);
  EXPECT_EQ(tiling::AxisOf({6, 5, 4, 3, 2}, base::Axis::kColumns), std::nullopt);
  EXPECT_EQ(tiling::OuterAxes({6, 5, 4, 3, 2}), (std::vector<size_t>{2, 1, 0}));
}

}  // namespace
}  // namespace tessera::graph

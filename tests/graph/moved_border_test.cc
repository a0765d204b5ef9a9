// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "borders.h"
#include "graph_builder.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/tiling.h"

// Operators without a window at the borders of their inputs, in numbers: operators that pass
// elements on, move them, or read axes whole; and two networks.
namespace tessera::graph {
namespace {

using base::OperatorKind;

TEST(Borders, ElementwiseAndBroadcast) {
  Operator op = OfKind(OperatorKind::kElementwise);
  const Along rows(OneOperator(op, {}, {{2, 6, 3}, {1, 3}}), 1);
  EXPECT_EQ(rows(2, 5), (ops::Extent{2, 5}));
  const Graph graph = OneOperator(op, {}, {{2, 6, 3}, {1, 3}});
  EXPECT_EQ(RegionFor(graph, {{0, 1}, {2, 5}, {1, 2}}, 1), (ops::Box{{0, 1}, {1, 2}}));
}

TEST(Borders, ConcatenationNeedsWhatItCutsOut) {
  Operator op = OfKind(OperatorKind::kConcat);
  op.axis = 1;
  const Along channels(OneOperator(op, {}, {{1, 3, 1, 1}, {1, 4, 1, 1}}), 1);
  EXPECT_EQ(channels(2, 5, 0), (ops::Extent{2, 3}));
  EXPECT_EQ(channels(2, 5, 1), (ops::Extent{0, 2}));
  EXPECT_EQ(channels(3, 7, 0), kNothing);
  EXPECT_EQ(channels(3, 7, 1), (ops::Extent{0, 4}));
}

Along Sliced(int64_t extent, int64_t start, int64_t step, int64_t count) {
  Operator op = OfKind(OperatorKind::kSlice);
  op.MakeOwn<SliceAttributes>().starts = {start};
  op.MakeOwn<SliceAttributes>().steps = {step};
  ops::Wanted wanted;
  wanted.shape = Shape{count};
  return {OneOperator(op, wanted, {{extent}}), 0};
}

TEST(Borders, SlicesUpAndDown) {
  const Along up = Sliced(10, 2, 3, 3);
  EXPECT_EQ(up(0, 1), (ops::Extent{2, 3}));
  EXPECT_EQ(up(1, 3), (ops::Extent{5, 9}));
  const Along down = Sliced(10, 9, -2, 4);
  EXPECT_EQ(down(0, 2), (ops::Extent{7, 10}));
  EXPECT_EQ(down(3, 4), (ops::Extent{3, 4}));
}

// Two before and three behind four.
Along Padded(PadMode mode) {
  Operator op = OfKind(OperatorKind::kPad);
  op.MakeOwn<PadAttributes>() = {mode, {2}, {3}};
  return {OneOperator(op, {}, {{4}}), 0};
}

TEST(Borders, PadsOfOneValue) {
  const Along pad = Padded(PadMode::kConstant);
  EXPECT_EQ(pad(0, 2), kNothing);
  EXPECT_EQ(pad(1, 3), (ops::Extent{0, 1}));
  EXPECT_EQ(pad(4, 9), (ops::Extent{2, 4}));
  EXPECT_EQ(pad(6, 9), kNothing);
}

// 2 1 | 0 1 2 3 | 2 1 0
TEST(Borders, PadsThatReflect) {
  const Along pad = Padded(PadMode::kReflect);
  EXPECT_EQ(pad(0, 1), (ops::Extent{2, 3}));
  EXPECT_EQ(pad(0, 3), (ops::Extent{0, 3}));
  EXPECT_EQ(pad(5, 7), (ops::Extent{2, 4}));
  EXPECT_EQ(pad(6, 8), (ops::Extent{1, 3}));
  EXPECT_EQ(pad(0, 9), (ops::Extent{0, 4}));
}

// 0 0 | 0 1 2 3 | 3 3 3
TEST(Borders, PadsThatRepeatTheEdge) {
  const Along pad = Padded(PadMode::kEdge);
  EXPECT_EQ(pad(0, 2), (ops::Extent{0, 1}));
  EXPECT_EQ(pad(1, 4), (ops::Extent{0, 2}));
  EXPECT_EQ(pad(6, 9), (ops::Extent{3, 4}));
}

// 2 3 | 0 1 2 3 | 0 1 2
TEST(Borders, PadsThatWrap) {
  const Along pad = Padded(PadMode::kWrap);
  EXPECT_EQ(pad(0, 2), (ops::Extent{2, 4}));
  EXPECT_EQ(pad(1, 3), (ops::Extent{0, 4}));
  EXPECT_EQ(pad(6, 9), (ops::Extent{0, 3}));
}

TEST(Borders, GatherByConstants) {
  Operator op = OfKind(OperatorKind::kGather);
  op.axis = 1;
  op.MakeOwn<GatherAttributes>().indices = {7, 0, 3};
  const Along picked(OneOperator(op, {}, {{2, 8, 5}}), 1);
  EXPECT_EQ(picked(0, 1), (ops::Extent{7, 8}));
  EXPECT_EQ(picked(1, 3), (ops::Extent{0, 4}));
  op.MakeOwn<GatherAttributes>().indices = {6};
  ops::Wanted wanted;
  wanted.keep_axes = false;
  const Graph dropped = OneOperator(op, wanted, {{2, 8, 5}});
  EXPECT_EQ(RegionFor(dropped, {{1, 2}, {2, 4}}), (ops::Box{{1, 2}, {6, 7}, {2, 4}}));
}

TEST(Borders, TransposePermutes) {
  Operator op = OfKind(OperatorKind::kTranspose);
  op.MakeOwn<TransposeAttributes>().permutation = {2, 0, 1};
  EXPECT_EQ(RegionFor(OneOperator(op, {}, {{2, 3, 4}}), {{3, 4}, {0, 1}, {1, 3}}),
            (ops::Box{{0, 1}, {1, 3}, {3, 4}}));
}

Graph Reshaped(const Shape& from, const Shape& to) {
  ops::Wanted wanted;
  wanted.shape = to;
  return OneOperator(OfKind(OperatorKind::kReshape), wanted, {from});
}

TEST(Borders, ReshapesThatSplitOrMerge) {
  const Graph merged = Reshaped({6, 4}, {24});
  EXPECT_EQ(RegionFor(merged, {{5, 7}}), (ops::Box{{1, 2}, {1, 3}}));
  EXPECT_EQ(RegionFor(merged, {{5, 9}}), (ops::Box{{1, 3}, {0, 4}}));
  EXPECT_EQ(RegionFor(merged, {{20, 24}}), (ops::Box{{5, 6}, {0, 4}}));
  const Graph split = Reshaped({24}, {6, 4});
  EXPECT_EQ(RegionFor(split, {{1, 3}, {1, 2}}), (ops::Box{{5, 10}}));
  EXPECT_EQ(RegionFor(split, {{5, 6}, {3, 4}}), (ops::Box{{23, 24}}));
}

// Row 3 and column 2 are phase (1, 0) of block (1, 1).
TEST(Borders, DepthToSpace) {
  Operator op = OfKind(OperatorKind::kDepthToSpace);
  op.MakeOwn<DepthSpaceAttributes>().block = 2;
  const Graph dcr = OneOperator(op, {}, {{1, 12, 4, 4}});
  EXPECT_EQ(RegionFor(dcr, {{0, 1}, {0, 3}, {3, 4}, {2, 3}}),
            (ops::Box{{0, 1}, {6, 9}, {1, 2}, {1, 2}}));
  EXPECT_EQ(RegionFor(dcr, {{0, 1}, {0, 3}, {2, 4}, {0, 2}}),
            (ops::Box{{0, 1}, {0, 12}, {1, 2}, {0, 1}}));
  EXPECT_EQ(RegionFor(dcr, {{0, 1}, {1, 2}, {3, 6}, {2, 3}}),
            (ops::Box{{0, 1}, {1, 8}, {1, 3}, {1, 2}}));
  op.MakeOwn<DepthSpaceAttributes>().order = DepthOrder::kCrd;
  const Graph crd = OneOperator(op, {}, {{1, 12, 4, 4}});
  EXPECT_EQ(RegionFor(crd, {{0, 1}, {0, 2}, {3, 4}, {2, 3}}),
            (ops::Box{{0, 1}, {2, 7}, {1, 2}, {1, 2}}));
}

// Channels 6 to 8 of 12 are phase (1, 0) of the three.
TEST(Borders, SpaceToDepth) {
  Operator op = OfKind(OperatorKind::kSpaceToDepth);
  op.MakeOwn<DepthSpaceAttributes>().block = 2;
  const Graph dcr = OneOperator(op, {}, {{1, 3, 8, 8}});
  EXPECT_EQ(RegionFor(dcr, {{0, 1}, {0, 12}, {1, 3}, {3, 4}}),
            (ops::Box{{0, 1}, {0, 3}, {2, 6}, {6, 8}}));
  EXPECT_EQ(RegionFor(dcr, {{0, 1}, {6, 9}, {1, 3}, {3, 4}}),
            (ops::Box{{0, 1}, {0, 3}, {3, 6}, {6, 7}}));
  op.MakeOwn<DepthSpaceAttributes>().order = DepthOrder::kCrd;
  const Graph crd = OneOperator(op, {}, {{1, 3, 8, 8}});
  EXPECT_EQ(RegionFor(crd, {{0, 1}, {5, 7}, {1, 2}, {3, 4}}),
            (ops::Box{{0, 1}, {1, 2}, {2, 4}, {6, 8}}));
}

// Phase (0, 1) of image 1 of 2 is image 3.
TEST(Borders, SpaceToBatch) {
  Operator op = OfKind(OperatorKind::kSpaceToBatch);
  op.own = base::SpaceToBatchAttributes{.block = {2, 3}};
  const Graph graph = OneOperator(op, {}, {{2, 4, 8, 9}});
  EXPECT_EQ(RegionFor(graph, {{3, 4}, {1, 2}, {1, 3}, {0, 2}}),
            (ops::Box{{1, 2}, {1, 2}, {2, 5}, {1, 5}}));
  EXPECT_EQ(RegionFor(graph, {{5, 8}, {0, 4}, {0, 1}, {2, 3}}),
            (ops::Box{{0, 2}, {0, 4}, {0, 2}, {6, 9}}));
}

Along Summed(bool exclusive, bool reverse) {
  Operator op = OfKind(OperatorKind::kCumsum);
  op.axis = 1;
  op.own = base::CumsumAttributes{.exclusive = exclusive, .reverse = reverse};
  return {OneOperator(op, {}, {{2, 6, 3}}), 1};
}

TEST(Borders, SumsReadAllUpToTheirElement) {
  EXPECT_EQ(Summed(false, false)(2, 4), (ops::Extent{0, 4}));
  EXPECT_EQ(Summed(true, false)(2, 4), (ops::Extent{0, 3}));
  EXPECT_EQ(Summed(true, false)(0, 1), kNothing);
  EXPECT_EQ(Summed(false, true)(2, 4), (ops::Extent{2, 6}));
  EXPECT_EQ(Summed(true, true)(2, 4), (ops::Extent{3, 6}));
  EXPECT_EQ(Summed(true, true)(5, 6), kNothing);
}

TEST(Borders, TopKReadsItsAxisWhole) {
  Operator op = OfKind(OperatorKind::kTopK);
  op.axes = {1};
  op.own = base::TopKAttributes{.k = 2};
  EXPECT_EQ(RegionFor(OneOperator(op, {}, {{2, 6, 3}}), {{1, 2}, {1, 2}, {0, 2}}),
            (ops::Box{{1, 2}, {0, 6}, {0, 2}}));
}

TEST(Borders, MatmulsReadRowsAndColumnsOverAllOfK) {
  Operator op = OfKind(OperatorKind::kMatmul);
  const ops::Box asked = {{1, 2}, {2, 4}, {0, 3}};
  const Graph plain = OneOperator(op, {}, {{3, 5, 7}, {7, 6}});
  EXPECT_EQ(RegionFor(plain, asked, 0), (ops::Box{{1, 2}, {2, 4}, {0, 7}}));
  EXPECT_EQ(RegionFor(plain, asked, 1), (ops::Box{{0, 7}, {0, 3}}));
  op.own = MatmulAttributes{true, true, {}, {}};
  const Graph transposed = OneOperator(op, {}, {{1, 7, 5}, {3, 6, 7}});
  EXPECT_EQ(RegionFor(transposed, asked, 0), (ops::Box{{0, 1}, {0, 7}, {2, 4}}));
  EXPECT_EQ(RegionFor(transposed, asked, 1), (ops::Box{{1, 2}, {0, 3}, {0, 7}}));
  // Stored as [rows, batch, K] and [columns, K], made as [rows, batch, columns].
  op.own = MatmulAttributes{false, false, {{{1, 0, 2}, {1, 0}}}, {1, 0, 2}};
  const Graph stored = OneOperator(op, {}, {{5, 3, 7}, {6, 7}});
  EXPECT_EQ(RegionFor(stored, {{2, 4}, {1, 2}, {0, 3}}, 0), (ops::Box{{2, 4}, {1, 2}, {0, 7}}));
  EXPECT_EQ(RegionFor(stored, {{2, 4}, {1, 2}, {0, 3}}, 1), (ops::Box{{0, 3}, {0, 7}}));
}

TEST(Borders, ReductionsReadTheirAxesWhole) {
  Operator op = OfKind(OperatorKind::kSoftmax);
  op.axes = {2, 3};
  EXPECT_EQ(RegionFor(OneOperator(op, {}, {{2, 4, 8, 6}}), {{1, 2}, {0, 3}, {2, 3}, {5, 6}}),
            (ops::Box{{1, 2}, {0, 3}, {0, 8}, {0, 6}}));
  op.kind = OperatorKind::kReduce;
  op.axes = {1, 3};
  EXPECT_EQ(RegionFor(OneOperator(op, {}, {{2, 4, 8, 6}}), {{1, 2}, {0, 1}, {2, 3}, {0, 1}}),
            (ops::Box{{1, 2}, {0, 4}, {2, 3}, {0, 6}}));
  ops::Wanted wanted;
  wanted.keep_axes = false;
  EXPECT_EQ(RegionFor(OneOperator(op, wanted, {{2, 4, 8, 6}}), {{1, 2}, {2, 3}}),
            (ops::Box{{1, 2}, {0, 4}, {2, 3}, {0, 6}}));
}

TEST(Borders, GlobalPoolsReadWholeMaps) {
  ops::Wanted wanted;
  wanted.keep_axes = false;
  EXPECT_EQ(RegionFor(OneOperator(OfKind(OperatorKind::kGlobalPool), wanted, {{2, 4, 8, 6}}),
                      {{1, 2}, {1, 3}}),
            (ops::Box{{1, 2}, {1, 3}, {0, 8}, {0, 6}}));
}

TEST(Borders, DescribedOperatorsReadWhatTheirAuthorSays) {
  GraphBuilder builder;
  const int map = builder.AddInput({1, 4, 10, 1});
  const int scale = builder.AddInput({4, 1, 1});
  const int table = builder.AddInput({16});
  Operator op;
  op.accesses.resize(3);
  op.accesses[0].kind = ReadPattern::kWindow;
  op.accesses[0].window.kernel = {5, 1};
  op.accesses[0].window.pad_low = {2, 0};
  op.accesses[1].kind = ReadPattern::kElementwise;
  op.macs = 100;
  builder.AddOpaque(op, {{1, 4, 10, 1}}, {map, scale, table});
  Graph graph = std::move(builder).Build();
  const ops::Box asked = {{0, 1}, {1, 2}, {0, 3}, {0, 1}};
  EXPECT_EQ(RegionFor(graph, asked, 0), (ops::Box{{0, 1}, {1, 2}, {0, 5}, {0, 1}}));
  EXPECT_EQ(RegionFor(graph, asked, 1), (ops::Box{{1, 2}, {0, 1}, {0, 1}}));
  EXPECT_EQ(RegionFor(graph, asked, 2), (ops::Box{{0, 16}}));
  EXPECT_EQ(MacsOf(graph, graph.operators[0], asked), 8);  // 3 of 40 elements, rounded up
  graph.operators[0].accesses[0].every_channel = true;
  EXPECT_EQ(RegionFor(graph, {{0, 1}, {1, 2}, {8, 10}, {0, 1}}, 0),
            (ops::Box{{0, 1}, {0, 4}, {6, 10}, {0, 1}}));
  EXPECT_TRUE(tiling::CanCut(graph, {0, 0}, 2));
}

// Four heads of sixteen tokens: rows [2, 4) of head 1 need their query rows, and all keys and
// values of the head.
TEST(Borders, AttentionTiledByQueryRowsAndHeads) {
  GraphBuilder builder;
  const int query = builder.AddInput({4, 16, 8});
  const int key = builder.AddInput({4, 16, 8});
  const int value = builder.AddInput({4, 16, 8});
  Operator scores = OfKind(OperatorKind::kMatmul);
  scores.MakeOwn<MatmulAttributes>().transpose_second = true;
  const int logits = builder.Add(scores, {}, {query, key}).value();
  Operator softmax = OfKind(OperatorKind::kSoftmax);
  softmax.axes = {2};
  const int weights = builder.Add(softmax, {}, {logits}).value();
  builder.Add(OfKind(OperatorKind::kMatmul), {}, {weights, value}).value();
  const Graph graph = std::move(builder).Build();
  EXPECT_TRUE(tiling::CanCut(graph, {0, 2}, 0));
  EXPECT_TRUE(tiling::CanCut(graph, {0, 2}, 1));
  const std::vector<ops::Box> regions =
      tiling::RegionsOfTile(graph, {0, 2}, {{1, 2}, {2, 4}, {0, 8}});
  EXPECT_EQ(regions[static_cast<size_t>(query)], (ops::Box{{1, 2}, {2, 4}, {0, 8}}));
  EXPECT_EQ(regions[static_cast<size_t>(key)], (ops::Box{{1, 2}, {0, 16}, {0, 8}}));
  EXPECT_EQ(regions[static_cast<size_t>(value)], (ops::Box{{1, 2}, {0, 16}, {0, 8}}));
  EXPECT_EQ(regions[static_cast<size_t>(weights)], (ops::Box{{1, 2}, {2, 4}, {0, 16}}));
}

// Two convolutions in one branch, none in the other: the sum's input is held for the slower branch.
TEST(Borders, SlowerBranchDecidesOverWhatBothRead) {
  GraphBuilder builder;
  const int input = builder.AddConv(builder.AddInput({1, 1, 12, 12}), 1, 1);
  const int slow = builder.AddConv(builder.AddConv(input, 1, 3, 1, 1), 1, 3, 1, 1);
  builder.AddSum(input, slow);
  const Graph graph = std::move(builder).Build();
  const auto rows = [&](int64_t begin, int64_t end) {
    return tiling::RegionsOfTile(
        graph, {0, 3}, {{0, 1}, {0, 1}, {begin, end}, {0, 12}})[static_cast<size_t>(input)][2];
  };
  EXPECT_EQ(rows(0, 2), (ops::Extent{0, 4}));
  EXPECT_EQ(rows(4, 6), (ops::Extent{2, 8}));
  EXPECT_EQ(rows(11, 12), (ops::Extent{9, 12}));
}

}  // namespace
}  // namespace tessera::graph

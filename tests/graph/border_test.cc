// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "borders.h"
#include "graph_builder.h"

// Operators with a window, and resizes, at the borders of their inputs, in numbers: the low end,
// the middle, the high end, clipped windows, padding beyond the reach of a window, and holes.
namespace tessera::graph {
namespace {

using base::OperatorKind;

// A kernel over rows alone.
Operator RowWindow(OperatorKind kind, int64_t kernel, int64_t stride, int64_t dilation, int64_t low,
                   int64_t high) {
  Operator op = OfKind(kind);
  op.window = {.kernel = {kernel, 1},
               .stride = {stride, 1},
               .dilation = {dilation, 1},
               .pad_low = {low, 0},
               .pad_high = {high, 0}};
  return op;
}

Along RowsOf(const Operator& op, int64_t extent, ops::Wanted wanted = {}) {
  wanted.out_channels = 1;
  return {OneOperator(op, wanted, {{1, 1, extent, 1}}), 2};
}

TEST(Borders, Convolution) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kConv, 3, 1, 1, 1, 1), 10);
  EXPECT_EQ(rows(0, 2), (ops::Extent{0, 3}));
  EXPECT_EQ(rows(4, 6), (ops::Extent{3, 7}));
  EXPECT_EQ(rows(8, 10), (ops::Extent{7, 10}));
  EXPECT_EQ(rows(0, 10), (ops::Extent{0, 10}));
}

TEST(Borders, ConvolutionWithAStrideAndOneSidedPads) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kConv, 3, 2, 1, 0, 1), 8);
  ASSERT_EQ(rows.OutputExtent(), 4);
  EXPECT_EQ(rows(0, 1), (ops::Extent{0, 3}));
  EXPECT_EQ(rows(1, 3), (ops::Extent{2, 7}));
  EXPECT_EQ(rows(3, 4), (ops::Extent{6, 8}));
}

TEST(Borders, ConvolutionPaddedFurtherThanItReaches) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kConv, 2, 1, 1, 3, 3), 4);
  ASSERT_EQ(rows.OutputExtent(), 9);
  EXPECT_EQ(rows(0, 2), kNothing);
  EXPECT_EQ(rows(0, 3), (ops::Extent{0, 1}));
  EXPECT_EQ(rows(6, 9), (ops::Extent{3, 4}));
  EXPECT_EQ(rows(7, 9), kNothing);
}

// Taps three rows apart: where one is clipped, the next one inside is not next to the border.
TEST(Borders, DilatedConvolution) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kConv, 3, 1, 3, 3, 3), 10);
  ASSERT_EQ(rows.OutputExtent(), 10);
  EXPECT_EQ(rows(0, 1), (ops::Extent{0, 4}));
  EXPECT_EQ(rows(1, 2), (ops::Extent{1, 5}));
  EXPECT_EQ(rows(5, 6), (ops::Extent{2, 9}));
  EXPECT_EQ(rows(8, 9), (ops::Extent{5, 9}));
}

TEST(Borders, DilatedConvolutionWhoseHolesSpanTheInput) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kConv, 2, 1, 5, 3, 3), 2);
  ASSERT_EQ(rows.OutputExtent(), 3);
  EXPECT_EQ(rows(0, 1), kNothing);  // taps at -3 and 2
  EXPECT_EQ(rows(0, 3), kNothing);
}

TEST(Borders, PoolRoundedUpIsClippedBehindItsPads) {
  ops::Wanted wanted;
  wanted.ceil_mode = true;
  const Along rows = RowsOf(RowWindow(OperatorKind::kPool, 3, 2, 1, 0, 0), 8, wanted);
  ASSERT_EQ(rows.OutputExtent(), 4);
  EXPECT_EQ(rows(2, 3), (ops::Extent{4, 7}));
  EXPECT_EQ(rows(3, 4), (ops::Extent{6, 8}));
}

TEST(Borders, PoolOfStatedSizeMayEndWithAWindowInThePads) {
  ops::Wanted wanted;
  wanted.size = {3, 1};
  const Along rows = RowsOf(RowWindow(OperatorKind::kPool, 3, 4, 1, 0, 1), 8, wanted);
  EXPECT_EQ(rows(1, 3), (ops::Extent{4, 7}));
  EXPECT_EQ(rows(2, 3), kNothing);
}

TEST(Borders, GroupsOfChannels) {
  Operator op = RowWindow(OperatorKind::kConv, 1, 1, 1, 0, 0);
  op.groups = 2;
  ops::Wanted wanted;
  wanted.out_channels = 6;
  const Along conv(OneOperator(op, wanted, {{1, 4, 1, 1}}), 1);
  EXPECT_EQ(conv(0, 1), (ops::Extent{0, 2}));
  EXPECT_EQ(conv(2, 4), (ops::Extent{0, 4}));
  EXPECT_EQ(conv(3, 6), (ops::Extent{2, 4}));
  wanted.multiplier = 2;
  const Along depthwise(
      OneOperator(RowWindow(OperatorKind::kDepthwise, 1, 1, 1, 0, 0), wanted, {{1, 4, 1, 1}}), 1);
  EXPECT_EQ(depthwise(0, 2), (ops::Extent{0, 1}));
  EXPECT_EQ(depthwise(3, 5), (ops::Extent{1, 3}));
  EXPECT_EQ(depthwise(7, 8), (ops::Extent{3, 4}));
}

TEST(Borders, TransposedConvolution) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kTransposedConv, 4, 2, 1, 1, 1), 5);
  ASSERT_EQ(rows.OutputExtent(), 10);
  EXPECT_EQ(rows(0, 1), (ops::Extent{0, 1}));
  EXPECT_EQ(rows(4, 6), (ops::Extent{1, 4}));
  EXPECT_EQ(rows(9, 10), (ops::Extent{4, 5}));
  EXPECT_EQ(rows(0, 10), (ops::Extent{0, 5}));
}

TEST(Borders, TransposedConvolutionWithOutputsBetweenItsInputs) {
  ops::Wanted wanted;
  wanted.output_padding = {2, 0};
  const Along rows = RowsOf(RowWindow(OperatorKind::kTransposedConv, 1, 3, 1, 0, 0), 3, wanted);
  ASSERT_EQ(rows.OutputExtent(), 9);
  EXPECT_EQ(rows(0, 1), (ops::Extent{0, 1}));
  EXPECT_EQ(rows(1, 3), kNothing);
  EXPECT_EQ(rows(2, 5), (ops::Extent{1, 2}));
  EXPECT_EQ(rows(7, 9), kNothing);
}

// Input i adds to outputs 2 i and 2 i + 3.
TEST(Borders, DilatedTransposedConvolution) {
  const Along rows = RowsOf(RowWindow(OperatorKind::kTransposedConv, 2, 2, 3, 0, 0), 4);
  ASSERT_EQ(rows.OutputExtent(), 10);
  EXPECT_EQ(rows(1, 2), kNothing);
  EXPECT_EQ(rows(3, 4), (ops::Extent{0, 1}));
  EXPECT_EQ(rows(5, 7), (ops::Extent{1, 4}));
  EXPECT_EQ(rows(9, 10), (ops::Extent{3, 4}));
}

Along Resized(int64_t from, int64_t to, ResizeCoordinates coordinates, ResizeMode mode,
              NearestRounding rounding = NearestRounding::kRoundPreferFloor) {
  Operator op = OfKind(OperatorKind::kResize);
  op.MakeOwn<ResizeAttributes>() = {
      .mode = mode, .coordinates = coordinates, .rounding = rounding, .scales = {}};
  ops::Wanted wanted;
  wanted.size = {to, 1};
  return RowsOf(op, from, wanted);
}

// Places 1 and 4 of 6.
TEST(Borders, NearestAtHalfPixels) {
  const Along rows = Resized(6, 2, ResizeCoordinates::kHalfPixel, ResizeMode::kNearest);
  EXPECT_EQ(rows(0, 1), (ops::Extent{1, 2}));
  EXPECT_EQ(rows(1, 2), (ops::Extent{4, 5}));
  EXPECT_EQ(rows(0, 2), (ops::Extent{1, 5}));
}

// Places -1/4, 1/4, 3/4 ... 13/4 of 4; beyond the ends the nearest row counts.
TEST(Borders, BilinearAtHalfPixels) {
  const Along rows = Resized(4, 8, ResizeCoordinates::kHalfPixel, ResizeMode::kBilinear);
  EXPECT_EQ(rows(0, 1), (ops::Extent{0, 1}));
  EXPECT_EQ(rows(3, 4), (ops::Extent{1, 3}));
  EXPECT_EQ(rows(3, 6), (ops::Extent{1, 4}));
  EXPECT_EQ(rows(7, 8), (ops::Extent{3, 4}));
}

// One output lies at 5/2 of 6, but at 0 in PyTorch's definition.
TEST(Borders, OneOutputAtHalfPixels) {
  EXPECT_EQ(Resized(6, 1, ResizeCoordinates::kHalfPixel, ResizeMode::kBilinear)(0, 1),
            (ops::Extent{2, 4}));
  EXPECT_EQ(Resized(6, 1, ResizeCoordinates::kPytorchHalfPixel, ResizeMode::kBilinear)(0, 1),
            (ops::Extent{0, 1}));
  EXPECT_EQ(Resized(6, 1, ResizeCoordinates::kAlignCorners, ResizeMode::kBilinear)(0, 1),
            (ops::Extent{0, 1}));
}

// Places 0, 1/2, 1 ... 4 of 5: every other output lies on a row and reads no other.
TEST(Borders, BilinearWithAlignedCorners) {
  const Along rows = Resized(5, 9, ResizeCoordinates::kAlignCorners, ResizeMode::kBilinear);
  EXPECT_EQ(rows(2, 3), (ops::Extent{1, 2}));
  EXPECT_EQ(rows(3, 4), (ops::Extent{1, 3}));
  EXPECT_EQ(rows(8, 9), (ops::Extent{4, 5}));
}

// Output 3 lies at 3/2.
TEST(Borders, NearestRoundsHalvesAsAsked) {
  const auto row_of_3 = [](NearestRounding rounding) {
    return Resized(4, 8, ResizeCoordinates::kAsymmetric, ResizeMode::kNearest, rounding)(3, 4);
  };
  EXPECT_EQ(row_of_3(NearestRounding::kRoundPreferFloor), (ops::Extent{1, 2}));
  EXPECT_EQ(row_of_3(NearestRounding::kFloor), (ops::Extent{1, 2}));
  EXPECT_EQ(row_of_3(NearestRounding::kRoundPreferCeil), (ops::Extent{2, 3}));
  EXPECT_EQ(row_of_3(NearestRounding::kCeil), (ops::Extent{2, 3}));
}

// Places 1/4, 3/4 ... 15/4 of 4.
TEST(Borders, NearestAsTensorFlowHasIt) {
  const Along down = Resized(4, 8, ResizeCoordinates::kTfHalfPixelForNn, ResizeMode::kNearest,
                             NearestRounding::kFloor);
  EXPECT_EQ(down(3, 4), (ops::Extent{1, 2}));
  EXPECT_EQ(down(7, 8), (ops::Extent{3, 4}));
  const Along up = Resized(4, 8, ResizeCoordinates::kTfHalfPixelForNn, ResizeMode::kNearest,
                           NearestRounding::kCeil);
  EXPECT_EQ(up(0, 1), (ops::Extent{1, 2}));
  EXPECT_EQ(up(7, 8), (ops::Extent{3, 4}));
}

// Places 0, 1/2, 1 ...: an output on a row needs less than either neighbour.
TEST(Borders, CubicReadsFourOrOne) {
  const Along rows = Resized(8, 16, ResizeCoordinates::kAsymmetric, ResizeMode::kCubic);
  EXPECT_EQ(rows(6, 7), (ops::Extent{3, 4}));
  EXPECT_EQ(rows(7, 8), (ops::Extent{2, 6}));
  EXPECT_EQ(rows(6, 8), (ops::Extent{2, 6}));
  EXPECT_EQ(rows(5, 7), (ops::Extent{1, 5}));
  EXPECT_EQ(rows(1, 2), (ops::Extent{0, 3}));
  EXPECT_EQ(rows(15, 16), (ops::Extent{6, 8}));
}

// 5 rows at 3/2 are 7, but output 6 lies at 6 * 2/3 = 4, not at 6 * 5/7.
TEST(Borders, ScaleThatIsNotTheRatioOfExtents) {
  Operator op = OfKind(OperatorKind::kResize);
  op.MakeOwn<ResizeAttributes>() = {.mode = ResizeMode::kBilinear,
                                    .coordinates = ResizeCoordinates::kAsymmetric,
                                    .scales = {{3, 2}, {1, 1}}};
  const Along rows = RowsOf(op, 5);
  ASSERT_EQ(rows.OutputExtent(), 7);
  EXPECT_EQ(rows(0, 1), (ops::Extent{0, 1}));
  EXPECT_EQ(rows(4, 5), (ops::Extent{2, 4}));
  EXPECT_EQ(rows(6, 7), (ops::Extent{4, 5}));
}

}  // namespace
}  // namespace tessera::graph

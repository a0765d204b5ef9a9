// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <initializer_list>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/matmul.h"
#include "tessera/search/cost/cost_terms.h"

// In one step an engine does `unroll` iterations of each loop, on separate lanes. Iterations that
// use the same weights are equivalent, so they share lanes, whichever loops they belong to:
//
//     [197, 1, 768] x [768, 2304]     197 rows and one matrix, although the last axis but one has
//                                     extent 1; 4 x 4 lanes for rows and columns: 13 steps
//     [12, 197, 64] x [12, 64, 197]   197 rows for each of 12 matrices: 12 * 13 steps
//
// The lanes of an unrolled batch form groups of out_rows * out_columns. A group works with one
// matrix, and different groups may work with the same one. So rows are cut into pieces of the size
// of a group, and the pieces of all matrices are distributed over the groups. A convolution whose
// outputs read one pixel each is such a product with one matrix, so its pixels share all of these
// lanes.
//
// The loops that share lanes depend on the operator alone. If they depended on the tile, tiles
// could together take fewer steps than the whole, and lower bounds would be wrong.
namespace tessera::search::cost {
namespace {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::tiling::ExtentsView;
using hw_profiles::Throughput;
using hw_profiles::Unroll;

int64_t Product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) product = base::SaturatingMul(product, factor);
  return product;
}

int64_t Steps(int64_t length, int64_t unroll) {
  return base::CeilDiv(length, std::max<int64_t>(1, unroll));
}

// Returns the steps over the K extent, slice by slice if there are slices.
int64_t StepsOfK(int64_t k_extent, int64_t unroll, std::optional<int64_t> slice) {
  if (!slice || *slice >= k_extent) return Steps(k_extent, unroll);
  const int64_t full = (k_extent - 1) / *slice;
  return full * Steps(*slice, unroll) + Steps(k_extent - full * *slice, unroll);
}

// Returns the steps over the rows of a product, with `rows` for each of `matrices` second operands.
int64_t StepsOfRows(int64_t matrices, int64_t rows, const Throughput& throughput) {
  const Unroll& unroll = throughput.unroll;
  const int64_t pieces = std::max(Steps(rows, Product({unroll.out_rows, unroll.out_columns})),
                                  throughput.weight_steps);
  return Steps(Product({matrices, pieces}), unroll.batch);
}

using Taps = std::array<int64_t, 2>;  // along rows and columns
constexpr Taps kNoTaps = {1, 1};

// Returns the number of taps along each axis that one output sums; for a transposed convolution,
// the most taps that a stride leaves for one output.
Taps TapsOf(const Operator& op) {
  Taps taps = op.window.kernel;
  for (size_t axis = 0; axis < 2 && op.kind == OperatorKind::kTransposedConv; ++axis)
    taps[axis] = base::CeilDiv(taps[axis], op.window.stride[axis]);
  return taps;
}

int64_t StepsOfTaps(const Taps& taps, const Unroll& unroll) {
  return Steps(Product({Steps(taps[0], unroll.kernel_rows), Steps(taps[1], unroll.kernel_columns)}),
               unroll.kernel_taps);
}

// Returns the steps for one output that sums over `k_extent` channels and the taps of a kernel, in
// the form of the loops that takes fewer steps. The form depends on the operator alone, not on the
// tile.
int64_t StepsOfSums(const Taps& taps, int64_t k_extent, const Throughput& throughput,
                    std::optional<int64_t> slice) {
  const auto steps = [&](const Unroll& unroll) {
    return Product({StepsOfK(k_extent, unroll.in_channels, slice), StepsOfTaps(taps, unroll)});
  };
  const int64_t usual = steps(throughput.unroll);
  if (!throughput.other_sums) return usual;
  Unroll other = throughput.unroll;
  other.in_channels = throughput.other_sums->in_channels;
  other.kernel_taps = throughput.other_sums->kernel_taps;
  return std::min(usual, steps(other));
}

bool ReadsOnePixel(const Operator& op) {
  using Pair = std::array<int64_t, 2>;
  return op.kind == OperatorKind::kConv && op.groups <= 1 && op.window.kernel == Pair{1, 1} &&
         op.window.stride == Pair{1, 1};
}

// Returns the steps over batch, rows and columns.
int64_t StepsOfPixels(const Operator& op, ExtentsView output, const Throughput& throughput) {
  const Unroll& unroll = throughput.unroll;
  const int64_t steps =
      ReadsOnePixel(op)
          ? Steps(Product({output[0], output[2], output[3]}),
                  Product({unroll.batch, unroll.out_rows, unroll.out_columns}))
          : Product({Steps(output[0], unroll.batch), Steps(output[2], unroll.out_rows),
                     Steps(output[3], unroll.out_columns)});
  return std::max(throughput.weight_steps, steps);
}

// Each channel has a separate filter, so lanes compute outputs of different channels only if each
// lane can use any filter.
int64_t StepsOfDepthwise(const Operator& op, ExtentsView output, const Throughput& throughput,
                         int64_t pixels) {
  const Unroll& unroll = throughput.unroll;
  const int64_t taps = StepsOfSums(TapsOf(op), 1, throughput, std::nullopt);
  if (!throughput.fold_channels)
    return Product({pixels, Steps(output[1], unroll.out_channels), taps});
  const int64_t lanes =
      Product({unroll.batch, unroll.out_rows, unroll.out_columns, unroll.out_channels});
  return Product({Steps(graph::tiling::ElementsOf(output), lanes), taps});
}

// Groups run in sequence.
int64_t StepsOfConvolution(const Graph& graph, const Operator& op, ExtentsView output,
                           const Throughput& throughput, const Slicing& slicing, int64_t pixels) {
  const int64_t groups = std::max<int64_t>(1, op.groups);
  const int64_t in_channels = ShapeOf(graph, op.inputs.front())[1] / groups;
  const int64_t group_channels =
      std::max<int64_t>(1, ShapeOf(graph, op.outputs.front())[1] / groups);
  const int64_t at_once = throughput.unroll.out_channels;
  const int64_t of_channels = slicing.ignores_groups
                                  ? Steps(output[1], at_once)
                                  : Product({base::CeilDiv(output[1], group_channels),
                                             Steps(std::min(output[1], group_channels), at_once)});
  Taps taps = TapsOf(op);
  const int64_t folded = FoldsColumns(graph, op, throughput) ? 2 : 1;
  taps[1] = base::CeilDiv(taps[1], folded);
  std::optional<int64_t> slice = slicing.k_slice;
  if (slice) slice = base::SaturatingMul(*slice, folded);
  return Product({of_channels, StepsOfSums(taps, in_channels * folded, throughput, slice), pixels});
}

// Returns whether one part of the second operand serves all indices along a leading axis of the
// product, because the operand lacks that axis or has extent 1 there.
bool SharesSecond(const Graph& graph, const Operator& op, size_t rank, size_t axis) {
  if (op.inputs.size() < 2) return true;
  const graph::Shape& second = ShapeOf(graph, op.inputs[1]);
  return axis + second.size() < rank ||
         second[graph::ops::StoredAxis(op, 1, axis + second.size() - rank)] == 1;
}

int64_t StepsOfMatmul(const Graph& graph, const Operator& op, ExtentsView output,
                      const Throughput& throughput, const Slicing& slicing) {
  const size_t rank = output.size();
  int64_t rows = 1;
  int64_t matrices = 1;
  for (size_t axis = 0; axis + 1 < rank; ++axis) {
    const size_t of_product = graph::ops::ProductAxis(op, axis);
    const bool is_row = of_product + 2 == rank || SharesSecond(graph, op, rank, of_product);
    int64_t& loop = is_row ? rows : matrices;
    loop = base::SaturatingMul(loop, output[axis]);
  }
  const graph::Shape& first = ShapeOf(graph, op.inputs.front());
  const int64_t k_extent = first[*graph::ops::SumAxisOf(op, 0, first.size())];
  return Product({StepsOfRows(matrices, rows, throughput),
                  Steps(output[rank - 1], throughput.unroll.out_channels),
                  StepsOfSums(kNoTaps, k_extent, throughput, slicing.k_slice)});
}

}  // namespace

bool FoldsColumns(const Graph& graph, const Operator& op, const Throughput& throughput) {
  if (throughput.fold_columns == 0 || op.kind != OperatorKind::kConv || op.groups > 1) return false;
  const graph::Tensor& input = graph.tensors[static_cast<size_t>(op.inputs.front())];
  const int64_t columns = input.shape[3];
  const int64_t kernel = op.window.kernel[1];
  if (!input.network_input || input.shape[1] > throughput.fold_columns || columns % 2 != 0 ||
      op.window.stride[1] != 2 || op.window.dilation[1] != 1 || kernel < 2)
    return false;
  const int64_t before_last = ShapeOf(graph, op.outputs.front())[3] - 1;
  const int64_t pads = std::max<int64_t>(0, 2 * before_last + kernel - columns);
  return pads == std::max<int64_t>(0, before_last + base::CeilDiv(kernel, 2) - columns / 2);
}

int64_t StepsOf(const Graph& graph, const Operator& op, ExtentsView output,
                const Throughput& throughput, const Slicing& slicing) {
  if (op.kind == OperatorKind::kMatmul)
    return StepsOfMatmul(graph, op, output, throughput, slicing);
  const int64_t pixels = StepsOfPixels(op, output, throughput);
  if (op.kind == OperatorKind::kDepthwise) return StepsOfDepthwise(op, output, throughput, pixels);
  return StepsOfConvolution(graph, op, output, throughput, slicing, pixels);
}

int64_t StepsOfBlock(const Graph& graph, const Operator& op, ExtentsView block,
                     const Throughput& throughput, const Slicing& slicing) {
  const Unroll& unroll = throughput.unroll;
  const bool is_line = block[2] == 1 && ReadsOnePixel(op);
  const int64_t lanes =
      is_line ? Steps(block[3], Product({unroll.out_rows, unroll.out_columns}))
              : Product({Steps(block[2], unroll.out_rows), Steps(block[3], unroll.out_columns)});
  const int64_t pixels = std::max(throughput.weight_steps, lanes);
  if (op.kind == OperatorKind::kDepthwise) return StepsOfDepthwise(op, block, throughput, pixels);
  return StepsOfConvolution(graph, op, block, throughput, slicing, pixels);
}

}  // namespace tessera::search::cost

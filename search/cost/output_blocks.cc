// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/output_blocks.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"

// An engine makes a result block by block. Its internal buffer holds the sums of a block and the
// part of the input that they need, both twice, so that one block is computed while the next is
// fetched:
//
//     rows     .---.---.---.-.      each block fetches its window of the input, halo included, once
//              | b | b | b |b|      for each block of channels, and the weights of its channels
//              '---'---'---'-'
//
// Larger blocks fetch less halo and fewer weights, deeper blocks fetch less input, and only some
// blocks fit. The drivers of such engines choose the block with the least traffic. This file does
// the same, with the count of Arm's compiler: a position counts by its share of the result, a
// weight by whole blocks, and a block whose input fits the buffer twice counts half. Sizes grow
// along a line of the enumeration, so the first that does not fit ends the line.
namespace tessera::search::cost {
namespace {

using base::CeilDiv;
using base::OperatorKind;
using base::RoundUp;
using base::SaturatingMul;
using graph::tiling::ExtentsView;
using hw_profiles::OutputBlocks;
using hw_profiles::Throughput;
using hw_profiles::Unroll;

constexpr size_t kChannels = 1;
constexpr size_t kRows = 2;
constexpr size_t kColumns = 3;

// A quotient of whole numbers.
struct Traffic {
  int64_t amount = 0;
  int64_t parts = 1;

  bool IsLessThan(const Traffic& other) const {
    __extension__ using Wide = __int128;
    return Wide{amount} * other.parts < Wide{other.amount} * parts;
  }
};

// A block along rows or columns.
struct Side {
  int64_t length = 1;
  int64_t window = 1;  // of the input
  int64_t count = 1;   // blocks along the result
};

class BlockChoice {
 public:
  BlockChoice(const graph::Operator& op, const OutputBlocks& blocks, const Unroll& unroll,
              base::DataType type, ExtentsView output, ExtentsView input, int64_t folded)
      : window_(Folded(op.window, folded)),
        blocks_(blocks),
        unroll_(unroll),
        type_(type),
        output_(output),
        is_depthwise_(op.kind == OperatorKind::kDepthwise),
        folded_(folded),
        input_channels_(input[kChannels] * folded),
        input_(SaturatingMul(SaturatingMul(input[kRows], CeilDiv(input[kColumns], folded)),
                             input_channels_)),
        weights_(
            SaturatingMul(SaturatingMul(window_.kernel[0] * window_.kernel[1], input_channels_),
                          is_depthwise_ ? 1 : output[kChannels])) {}

  Block Find() const {
    const std::vector<Side> rows = Sides(kRows);
    const std::vector<Side> columns = Sides(kColumns);
    const std::vector<int64_t> depths = Depths();
    std::optional<Block> best;
    Traffic least;
    for (const int64_t depth : depths) {
      for (const Side& row : rows) {
        for (const Side& column : columns) {
          if (!Fits(row, column, depth)) break;
          const Traffic traffic = TrafficOf(row, column, depth);
          if (best && !traffic.IsLessThan(least)) continue;
          best = BlockOf(row, column, depth);
          least = traffic;
        }
      }
    }
    return best ? *best : BlockOf(rows.front(), columns.front(), depths.front());
  }

 private:
  static graph::Window Folded(graph::Window window, int64_t folded) {
    window.kernel[1] = CeilDiv(window.kernel[1], folded);
    window.stride[1] = CeilDiv(window.stride[1], folded);
    return window;
  }

  Block BlockOf(const Side& row, const Side& column, int64_t depth) const {
    return {.rows = row.length,
            .columns = column.length,
            .channels = depth,
            .input_rows = row.window,
            .input_columns = column.window * folded_};
  }

  std::vector<int64_t> Depths() const {
    std::vector<int64_t> depths;
    for (int64_t depth = blocks_.channel_step;
         depth <= std::min(blocks_.channels, output_[kChannels] - 1); depth += blocks_.channel_step)
      depths.push_back(depth);
    if (output_[kChannels] <= blocks_.channels)
      depths.push_back(RoundUp(output_[kChannels], unroll_.out_channels));
    return depths;
  }

  // Returns the block sides along an axis: multiples of the lanes, up to the result. A single row
  // has blocks of one row.
  std::vector<Side> Sides(size_t axis) const {
    if (axis == kRows && output_[kRows] == 1 && window_.kernel[0] == 1) return {SideOf(1, axis)};
    const int64_t lanes = axis == kRows ? unroll_.out_rows : unroll_.out_columns;
    const int64_t most = axis == kRows ? blocks_.rows : blocks_.columns;
    std::vector<Side> sides = {SideOf(lanes, axis)};
    for (int64_t length = 2 * lanes; length <= std::min(most, RoundUp(output_[axis], lanes));
         length += lanes)
      sides.push_back(SideOf(length, axis));
    return sides;
  }

  Side SideOf(int64_t length, size_t axis) const {
    const size_t of_window = axis - kRows;
    const int64_t reach = (window_.kernel[of_window] - 1) * window_.dilation[of_window] + 1;
    return {.length = length,
            .window = RoundUp((length - 1) * window_.stride[of_window] + reach,
                              axis == kRows ? unroll_.out_rows : unroll_.out_columns),
            .count = CeilDiv(output_[axis], length)};
  }

  int64_t InputOf(const Side& row, const Side& column, int64_t depth) const {
    const int64_t channels = RoundUp(input_channels_, blocks_.input_channel_step);
    return SaturatingMul(row.window * column.window,
                         is_depthwise_ ? depth : std::min(channels, blocks_.input_channels));
  }

  bool Fits(const Side& row, const Side& column, int64_t depth) const {
    const int64_t inputs = base::BytesOf(type_, InputOf(row, column, depth));
    const int64_t sums = SaturatingMul(row.length * column.length,
                                       RoundUp(depth, unroll_.out_channels) * blocks_.sum_bytes);
    const int64_t room =
        base::SaturatingAdd(RoundUp(SaturatingMul(2, inputs), blocks_.input_granularity_bytes),
                            RoundUp(SaturatingMul(2, sums), blocks_.sum_granularity_bytes));
    return room <= blocks_.buffer_bytes;
  }

  Traffic TrafficOf(const Side& row, const Side& column, int64_t depth) const {
    const int64_t repeats = is_depthwise_ ? 1 : CeilDiv(output_[kChannels], depth);
    const int64_t windows =
        SaturatingMul(row.window * column.window, SaturatingMul(input_channels_, repeats));
    const int64_t area = row.length * column.length;
    const int64_t amount =
        base::SaturatingAdd(SaturatingMul(windows, output_[kRows] * output_[kColumns]),
                            SaturatingMul(SaturatingMul(weights_, row.count * column.count), area));
    const bool holds_all = input_ < SaturatingMul(2, InputOf(row, column, depth));
    return {amount, holds_all ? 2 * area : area};
  }

  const graph::Window window_;
  const OutputBlocks& blocks_;
  const Unroll& unroll_;
  const base::DataType type_;
  const ExtentsView output_;
  const bool is_depthwise_;
  const int64_t folded_;  // columns of the input that are one
  const int64_t input_channels_;
  const int64_t input_;    // elements
  const int64_t weights_;  // elements
};

}  // namespace

bool WorksInBlocks(const graph::Operator& op, const hw_profiles::Engine* engine) {
  const bool convolves =
      op.kind == OperatorKind::kDepthwise || (op.kind == OperatorKind::kConv && op.groups <= 1);
  return convolves && engine != nullptr && engine->blocks;
}

Blocking BlockChoices::Find(const graph::Operator& op, const hw_profiles::Engine& engine,
                            const Throughput& throughput, base::DataType input_type,
                            ExtentsView output, ExtentsView input, bool folds_columns) {
  const Key key = {static_cast<int64_t>(reinterpret_cast<intptr_t>(&op)),
                   output[kChannels],
                   output[kRows],
                   output[kColumns],
                   input[kChannels],
                   input[kRows],
                   input[kColumns]};
  std::optional<Block> block = Known(key);
  if (!block) {
    block = BlockChoice(op, *engine.blocks, throughput.unroll, input_type, output, input,
                        folds_columns ? 2 : 1)
                .Find();
    const std::unique_lock lock(mutex_);
    if (known_.size() < kMostKnown) known_.emplace(key, *block);
  }
  const bool is_depthwise = op.kind == OperatorKind::kDepthwise;
  Blocking blocking;
  blocking.block = {.rows = std::min(block->rows, output[kRows]),
                    .columns = std::min(block->columns, output[kColumns]),
                    .channels = std::min(block->channels, output[kChannels]),
                    .input_rows = std::min(block->input_rows, input[kRows]),
                    .input_columns = std::min(block->input_columns, input[kColumns])};
  blocking.areas = SaturatingMul(
      output[0], CeilDiv(output[kRows], block->rows) * CeilDiv(output[kColumns], block->columns));
  blocking.layers = CeilDiv(output[kChannels], block->channels);
  blocking.input_reads = is_depthwise ? 1 : blocking.layers;
  return blocking;
}

std::optional<Block> BlockChoices::Known(const Key& key) const {
  const std::shared_lock lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

size_t BlockChoices::HashOf::operator()(const Key& key) const {
  uint64_t hash = 0;
  for (const int64_t value : key)
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15U + (hash >> 29U);
  return hash;
}

}  // namespace tessera::search::cost

#include "tessera/search/cost/output_blocks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/saturating.h"
#include "tessera/base/vocabulary.h"

// An engine makes a result block by block. Its own buffer holds the sums of a block and the part of
// the input that they need, both twice, so that one block is computed while the next is fetched:
//
//     rows     .---.---.---.-.      each block fetches its window of the input, halo included, once
//              | b | b | b |b|      for each block of channels, and the weights of its channels
//              '---'---'---'-'
//
// Larger blocks fetch less halo and fewer weights, deeper ones less input, and only some fit. The
// drivers of such engines take the block with the least traffic. So does this, by the same count as
// Arm's compiler: a position counts by its share of the result, a weight by whole blocks, and a
// block whose input fits the buffer twice counts half. Sizes grow along a line of the enumeration,
// so the first that does not fit ends the line.
namespace tessera::search::cost {
namespace {

using base::CeilDiv;
using base::OperatorKind;
using base::RoundUp;
using base::SaturatingMul;
using graph::tiling::ExtentsView;
using hw_profiles::OutputBlocks;
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

struct Block {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t channels = 1;
  int64_t input_rows = 1;
  int64_t input_columns = 1;
  int64_t input_channels = 1;
};

class BlockChoice {
 public:
  BlockChoice(const graph::Operator& op, const OutputBlocks& blocks, const Unroll& unroll,
              base::DataType type, ExtentsView output, ExtentsView input)
      : op_(op), blocks_(blocks), unroll_(unroll), type_(type), output_(output), input_(input) {}

  Block Find() {
    for (const int64_t channels : Depths()) {
      for (const int64_t rows : Sizes(kRows)) {
        for (const int64_t columns : Sizes(kColumns)) {
          const Block block = BlockOf(rows, columns, channels);
          if (!Fits(block)) break;
          const Traffic traffic = TrafficOf(block);
          if (best_ && !traffic.IsLessThan(least_)) continue;
          best_ = block;
          least_ = traffic;
        }
      }
    }
    return best_ ? *best_
                 : BlockOf(Sizes(kRows).front(), Sizes(kColumns).front(), Depths().front());
  }

 private:
  bool IsDepthwise() const { return op_.kind == OperatorKind::kDepthwise; }

  std::vector<int64_t> Depths() const {
    std::vector<int64_t> depths;
    for (int64_t depth = blocks_.channel_step; depth <= blocks_.channels;
         depth += blocks_.channel_step) {
      if (depth >= output_[kChannels]) break;
      depths.push_back(depth);
    }
    if (output_[kChannels] <= blocks_.channels)
      depths.push_back(RoundUp(output_[kChannels], unroll_.out_channels));
    return depths;
  }

  // Multiples of the lanes, up to the result. A single row has blocks of one row.
  std::vector<int64_t> Sizes(size_t axis) const {
    if (axis == kRows && output_[kRows] == 1 && op_.window.kernel[0] == 1) return {1};
    const int64_t lanes = axis == kRows ? unroll_.out_rows : unroll_.out_columns;
    const int64_t most = axis == kRows ? blocks_.rows : blocks_.columns;
    std::vector<int64_t> sizes = {lanes};
    for (int64_t size = 2 * lanes; size <= std::min(most, RoundUp(output_[axis], lanes));
         size += lanes)
      sizes.push_back(size);
    return sizes;
  }

  int64_t InputOf(int64_t size, size_t axis) const {
    const graph::Window& window = op_.window;
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    return RoundUp((size - 1) * window.stride[axis] + reach,
                   axis == 0 ? unroll_.out_rows : unroll_.out_columns);
  }

  Block BlockOf(int64_t rows, int64_t columns, int64_t channels) const {
    return {rows,
            columns,
            channels,
            InputOf(rows, 0),
            InputOf(columns, 1),
            IsDepthwise() ? channels : std::min(input_[kChannels], blocks_.input_channels)};
  }

  bool Fits(const Block& block) const {
    const int64_t inputs = base::BytesOf(
        type_,
        SaturatingMul(SaturatingMul(block.input_rows, block.input_columns), block.input_channels));
    const int64_t sums =
        SaturatingMul(block.rows * block.columns,
                      RoundUp(block.channels, unroll_.out_channels) * blocks_.sum_bytes);
    const int64_t room =
        base::SaturatingAdd(RoundUp(SaturatingMul(2, inputs), blocks_.input_granularity_bytes),
                            RoundUp(SaturatingMul(2, sums), blocks_.sum_granularity_bytes));
    return room <= blocks_.buffer_bytes;
  }

  Traffic TrafficOf(const Block& block) const {
    const int64_t of_input = SaturatingMul(SaturatingMul(block.input_rows, block.input_columns),
                                           SaturatingMul(input_[kChannels], Repeats(block)));
    const int64_t filters = IsDepthwise() ? 1 : output_[kChannels];
    const int64_t weights = SaturatingMul(
        SaturatingMul(op_.window.kernel[0] * op_.window.kernel[1], input_[kChannels]), filters);
    const int64_t area = block.rows * block.columns;
    const int64_t positions =
        CeilDiv(output_[kRows], block.rows) * CeilDiv(output_[kColumns], block.columns);
    const int64_t amount =
        base::SaturatingAdd(SaturatingMul(of_input, output_[kRows] * output_[kColumns]),
                            SaturatingMul(SaturatingMul(weights, positions), area));
    const int64_t block_input =
        SaturatingMul(SaturatingMul(block.input_rows, block.input_columns), block.input_channels);
    const int64_t input =
        SaturatingMul(SaturatingMul(input_[kRows], input_[kColumns]), input_[kChannels]);
    return {amount, area * (input < SaturatingMul(2, block_input) ? 2 : 1)};
  }

  int64_t Repeats(const Block& block) const {
    return IsDepthwise() ? 1 : CeilDiv(output_[kChannels], block.channels);
  }

  const graph::Operator& op_;
  const OutputBlocks& blocks_;
  const Unroll& unroll_;
  base::DataType type_;
  ExtentsView output_;
  ExtentsView input_;
  std::optional<Block> best_;
  Traffic least_;
};

}  // namespace

std::optional<Blocking> BlockingOf(const graph::Operator& op, const hw_profiles::Engine* engine,
                                   const hw_profiles::Throughput* throughput,
                                   base::DataType input_type, ExtentsView output,
                                   ExtentsView input) {
  if (engine == nullptr || !engine->blocks || throughput == nullptr) return std::nullopt;
  const bool is_depthwise = op.kind == OperatorKind::kDepthwise;
  const bool is_dense = op.kind == OperatorKind::kConv && op.groups <= 1;
  if (!is_depthwise && !is_dense) return std::nullopt;
  if (graph::tiling::ElementsOf(output) == 0) return std::nullopt;
  const Block block =
      BlockChoice(op, *engine->blocks, throughput->unroll, input_type, output, input).Find();
  Blocking blocking;
  blocking.rows = std::min(block.rows, output[kRows]);
  blocking.columns = std::min(block.columns, output[kColumns]);
  blocking.channels = std::min(block.channels, output[kChannels]);
  blocking.input_rows = std::min(block.input_rows, input[kRows]);
  blocking.input_columns = std::min(block.input_columns, input[kColumns]);
  blocking.positions = SaturatingMul(
      output[0], CeilDiv(output[kRows], block.rows) * CeilDiv(output[kColumns], block.columns));
  blocking.depths = CeilDiv(output[kChannels], block.channels);
  blocking.input_reads = is_depthwise ? 1 : blocking.depths;
  return blocking;
}

}  // namespace tessera::search::cost

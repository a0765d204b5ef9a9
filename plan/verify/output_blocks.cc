// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/output_blocks.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"

// All sizes of a block that rule 14.3.9 allows are visited in the order of the rule. The first of
// those that fit with the least traffic is the block. Profiles bound the number of sizes
// (hw_profiles::kMostBlockSizes), and results are cached.
namespace tessera::plan::verify {

namespace {

using base::CeilDiv;
using base::OperatorKind;
using base::RoundUp;
using Extents = std::vector<int64_t>;

struct Size {
  int64_t channels = 1;
  std::array<int64_t, 2> area = {1, 1};    // rows, columns
  std::array<int64_t, 2> window = {1, 1};  // of the input
};

class Sizes {
 public:
  Sizes(const graph::Operator& op, const hw_profiles::OutputBlocks& blocks,
        const hw_profiles::Unroll& unroll, base::DataType type, const Extents& made,
        const Extents& need)
      : op_(op),
        blocks_(blocks),
        lanes_({unroll.out_rows, unroll.out_columns}),
        channel_lanes_(unroll.out_channels),
        type_(type),
        made_(made),
        need_(need) {}

  Size Best() const {
    std::optional<Size> first;
    std::optional<Size> best;
    for (const int64_t channels : Layers()) {
      for (const int64_t rows : Lengths(0)) {
        for (const int64_t columns : Lengths(1)) {
          const Size size = {channels, {rows, columns}, {WindowOf(rows, 0), WindowOf(columns, 1)}};
          if (!first) first = size;
          if (RoomOf(size) > blocks_.buffer_bytes) continue;
          if (!best || IsLess(size, *best)) best = size;
        }
      }
    }
    return best ? *best : *first;
  }

 private:
  bool KeepsChannels() const { return op_.kind == OperatorKind::kDepthwise; }

  std::vector<int64_t> Layers() const {
    std::vector<int64_t> layers;
    const int64_t below = std::min(blocks_.channels, made_[1] - 1);
    for (int64_t i = 1; i <= below / blocks_.channel_step; ++i)
      layers.push_back(i * blocks_.channel_step);
    if (made_[1] <= blocks_.channels) layers.push_back(RoundUp(made_[1], channel_lanes_));
    return layers;
  }

  std::vector<int64_t> Lengths(size_t axis) const {
    const int64_t made = made_[2 + axis];
    if (axis == 0 && made == 1 && op_.window.kernel[0] == 1) return {1};
    const int64_t lanes = lanes_.at(axis);
    const int64_t most = axis == 0 ? blocks_.rows : blocks_.columns;
    const int64_t count = std::max<int64_t>(1, std::min(most / lanes, CeilDiv(made, lanes)));
    std::vector<int64_t> lengths(static_cast<size_t>(count));
    std::iota(lengths.begin(), lengths.end(), 1);
    for (int64_t& length : lengths) length *= lanes;
    return lengths;
  }

  int64_t WindowOf(int64_t length, size_t axis) const {
    const graph::Window& window = op_.window;
    const int64_t last_begins = (length - 1) * window.stride.at(axis);
    const int64_t last_tap = (window.kernel.at(axis) - 1) * window.dilation.at(axis);
    return RoundUp(last_begins + last_tap + 1, lanes_.at(axis));
  }

  int64_t InputOf(const Size& size) const {
    const int64_t channels =
        KeepsChannels() ? size.channels : std::min(need_[1], blocks_.input_channels);
    return Times(Times(size.window[0], size.window[1]), channels);
  }

  int64_t RoomOf(const Size& size) const {
    const int64_t outputs =
        Times(Times(size.area[0], size.area[1]), RoundUp(size.channels, channel_lanes_));
    return Plus(
        RoundUp(Times(2, base::BytesOf(type_, InputOf(size))), blocks_.input_granularity_bytes),
        RoundUp(Times(2, Times(outputs, blocks_.sum_bytes)), blocks_.sum_granularity_bytes));
  }

  // The traffic is the amount divided by the divisor.
  int64_t AmountOf(const Size& size) const {
    const int64_t windows = Times(Times(size.window[0], size.window[1]), need_[1]);
    const int64_t repeats = KeepsChannels() ? 1 : CeilDiv(made_[1], size.channels);
    const int64_t taps = op_.window.kernel[0] * op_.window.kernel[1];
    const int64_t weights = Times(Times(taps, need_[1]), KeepsChannels() ? 1 : made_[1]);
    const int64_t blocks = CeilDiv(made_[2], size.area[0]) * CeilDiv(made_[3], size.area[1]);
    return Plus(Times(Times(windows, repeats), made_[2] * made_[3]),
                Times(Times(weights, blocks), size.area[0] * size.area[1]));
  }

  bool IsLess(const Size& a, const Size& b) const {
    __extension__ using Wide = __int128;
    return Wide{AmountOf(a)} * DivisorOf(b) < Wide{AmountOf(b)} * DivisorOf(a);
  }

  int64_t DivisorOf(const Size& size) const {
    const int64_t input = Times(Times(need_[2], need_[3]), need_[1]);
    const int64_t area = size.area[0] * size.area[1];
    return input < Times(2, InputOf(size)) ? 2 * area : area;
  }

  const graph::Operator& op_;
  const hw_profiles::OutputBlocks& blocks_;
  const std::array<int64_t, 2> lanes_;
  const int64_t channel_lanes_;
  const base::DataType type_;
  const Extents& made_;
  const Extents& need_;
};

}  // namespace

std::optional<BlockGrid> BlockGrids::Find(const graph::Operator& op, const Extents& made,
                                          const Extents& need) {
  const hw_profiles::Engine* engine = EngineOf(plan_, op);
  if (engine == nullptr || !engine->blocks) return std::nullopt;
  const bool convolves =
      op.kind == OperatorKind::kDepthwise || (op.kind == OperatorKind::kConv && op.groups < 2);
  if (!convolves || std::find(made.begin(), made.end(), 0) != made.end()) return std::nullopt;
  const auto [known, is_new] = known_.try_emplace({&op, made, need});
  if (!is_new) return known->second;
  const base::DataType type = plan_.network.tensors[static_cast<size_t>(op.inputs.front())].type;
  const hw_profiles::Throughput* speed = hw_profiles::ThroughputFor(*engine, op.kind, type);
  const Size size = Sizes(op, *engine->blocks, speed->unroll, type, made, need).Best();
  BlockGrid& grid = known->second;
  grid.block = {1, std::min(size.channels, made[1]), std::min(size.area[0], made[2]),
                std::min(size.area[1], made[3])};
  grid.input = {1, need[1], std::min(size.window[0], need[2]), std::min(size.window[1], need[3])};
  grid.areas = Times(made[0], CeilDiv(made[2], size.area[0]) * CeilDiv(made[3], size.area[1]));
  grid.layers = CeilDiv(made[1], size.channels);
  return grid;
}

std::optional<BlockGrid> BlockGrids::Find(const graph::Operator& op, const Tile& tile) {
  if (op.inputs.empty()) return std::nullopt;
  return Find(op, ExtentsOf(MadeOf(tile, op.outputs.front())),
              ExtentsOf(tile.needs.at(op.inputs.front())));
}

}  // namespace tessera::plan::verify

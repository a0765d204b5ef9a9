// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/work_count.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/plan/verify/buffer_sizes.h"
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
  // `need` and the window of `op` are in columns as the engine reads them.
  Sizes(const graph::Operator& op, const hw_profiles::OutputBlocks& blocks,
        const hw_profiles::Unroll& unroll, base::DataType type, const Extents& made, Extents need)
      : op_(op),
        blocks_(blocks),
        lanes_({unroll.out_rows, unroll.out_columns}),
        channel_lanes_(unroll.out_channels),
        type_(type),
        made_(made),
        need_(std::move(need)) {}

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
        KeepsChannels()
            ? size.channels
            : std::min(RoundUp(need_[1], blocks_.input_channel_step), blocks_.input_channels);
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
  const Extents need_;
};

using base::OperatorKind;

// The number of input elements of which one output element is the weighted sum.
int64_t TermsOf(const graph::Graph& network, const graph::Operator& op) {
  const graph::Shape& in = ShapeOf(network, op.inputs.front());
  const int64_t window = op.window.kernel[0] * op.window.kernel[1];
  switch (op.kind) {
    case OperatorKind::kConv:
    case OperatorKind::kTransposedConv:
      return in.size() == 4 ? in[1] / std::max<int64_t>(1, op.groups) * window : 0;
    case OperatorKind::kDepthwise:
      return window;
    case OperatorKind::kMatmul:
      return in.size() < 2 ? 0 : in[KAxisOfInput(network, op, 0).value_or(0)];
    default:
      return 0;
  }
}

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
  const int64_t folded = FoldedColumns(plan_.network, op, *speed);
  graph::Operator as_read = op;
  Extents part = need;
  if (folded > 1) {
    as_read.window.kernel[1] = CeilDiv(op.window.kernel[1], folded);
    as_read.window.stride[1] /= folded;
    part = {need[0], need[1] * folded, need[2], CeilDiv(need[3], folded)};
  }
  const Size size = Sizes(as_read, *engine->blocks, speed->unroll, type, made, part).Best();
  BlockGrid& grid = known->second;
  grid.block = {1, std::min(size.channels, made[1]), std::min(size.area[0], made[2]),
                std::min(size.area[1], made[3])};
  grid.input = {1, need[1], std::min(size.window[0], need[2]),
                std::min(size.window[1] * folded, need[3])};
  grid.areas = Times(made[0], CeilDiv(made[2], size.area[0]) * CeilDiv(made[3], size.area[1]));
  grid.layers = CeilDiv(made[1], size.channels);
  return grid;
}

std::optional<BlockGrid> BlockGrids::Find(const graph::Operator& op, const Tile& tile) {
  if (op.inputs.empty()) return std::nullopt;
  return Find(op, ExtentsOf(MadeOf(tile, op.outputs.front())),
              ExtentsOf(tile.needs.at(op.inputs.front())));
}

int64_t MacsFor(const graph::Graph& network, const graph::Operator& op, const Box& output) {
  if (op.kind == OperatorKind::kOpaque) {
    __extension__ using Wide = __int128;
    const Wide all = VolumeOf(WholeOf(ShapeOf(network, op.outputs.front())));
    const Wide macs = op.macs.value_or(0);
    const Wide share = macs * VolumeOf(output) / all;
    return static_cast<int64_t>(share * all < macs * VolumeOf(output) ? share + 1 : share);
  }
  if (op.inputs.empty()) return 0;
  const int64_t terms = VolumeOf(output) * TermsOf(network, op);
  if (op.kind != OperatorKind::kTransposedConv) return terms;
  // A kernel that moves by a stride over the output applies taps / stride of its taps at each
  // position on average.
  const int64_t spread = op.window.stride[0] * op.window.stride[1];
  return (terms + spread - 1) / spread;
}

WorkCount::WorkCount(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph)
    : plan_(plan),
      users_(users),
      subgraph_(subgraph),
      k_slices_(FindKSlices(plan, subgraph)),
      grids_(plan) {
  for (const int tensor : TensorsOf(plan.network, subgraph.interval)) {
    const Held held = ResidencyOf(plan, users, subgraph, tensor);
    held_.emplace(tensor, held);
    if (held.residency == Residency::kResident) {
      work_.off_chip["weights"] += ConstantBytes(plan, users, tensor, subgraph.interval);
    }
  }
}

void WorkCount::Add(const Tile& tile) {
  for (int i = subgraph_.interval.first; i <= subgraph_.interval.last; ++i) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(i)];
    macs_[i] = Plus(macs_[i], MacsFor(plan_.network, op, MadeOf(tile, op.outputs.front())));
  }
  for (const auto& [tensor, need] : tile.needs) {
    const Held& held = held_.at(tensor);
    if (held.residency == Residency::kLoaded) Move("inputs", tensor, MadeOf(tile, tensor));
    if (held.residency == Residency::kStreamed) MoveSlices(tensor, need);
    if (held.residency == Residency::kDirect && held.read) Move("inputs", tensor, need);
  }
  ReadInputsOfBlocks(tile);
  for (const auto& [tensor, share] : tile.shares) {
    const Residency residency = held_.at(tensor).residency;
    if (residency == Residency::kStored || residency == Residency::kDirect)
      Move("outputs", tensor, share);
  }
  if (!k_slices_) {
    ReadConstants(tile);
  } else if (k_slices_->constant >= 0 &&
             held_.at(k_slices_->constant).residency == Residency::kStreamed) {
    const int result = plan_.network.operators[static_cast<size_t>(k_slices_->op)].outputs.front();
    ReadConstantOfSplitK(ExtentsOf(tile.needs.at(result))[k_slices_->result_channels]);
  }
}

// What blocks read of direct inputs beyond one read of these.
void WorkCount::ReadInputsOfBlocks(const Tile& tile) {
  for (int i = subgraph_.interval.first; i <= subgraph_.interval.last; ++i) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(i)];
    if (op.inputs.empty()) continue;
    const int input = op.inputs.front();
    const Held& held = held_.at(input);
    if (held.residency != Residency::kDirect) continue;
    const std::optional<BlockGrid> grid = grids_.Find(op, tile);
    if (!grid) continue;
    const auto bytes_of = [&](const std::vector<int64_t>& extents) {
      return PayloadOf(plan_.network.tensors[static_cast<size_t>(input)], extents,
                       hw_profiles::LayoutOf(plan_.profile, held.role));
    };
    const int64_t fetched = Times(grid->InputFetches(op), bytes_of(grid->input));
    int64_t& bytes = work_.off_chip["inputs"];
    bytes = Plus(bytes, std::max<int64_t>(0, fetched - bytes_of(ExtentsOf(tile.needs.at(input)))));
  }
}

// Each slice of K is a separate transfer.
void WorkCount::MoveSlices(int tensor, const Box& need) {
  const size_t axis = k_slices_->along.at(tensor);
  for (int64_t slice = 0; slice < k_slices_->Count() && !IsEmpty(need); ++slice) {
    Box part = need;
    part[axis] = {slice * k_slices_->granularity,
                  slice * k_slices_->granularity + k_slices_->DepthOf(slice)};
    Move("inputs", tensor, part);
  }
}

void WorkCount::ReadConstantOfSplitK(int64_t channels) {
  int64_t& bytes = work_.off_chip["weights"];
  for (int64_t slice = 0; slice < k_slices_->Count(); ++slice)
    bytes += KSliceBytes(plan_, *k_slices_, k_slices_->DepthOf(slice), channels);
  bytes += plan_.profile.table_bytes_per_channel * channels;
}

// Bytes as stored at home: channels in blocks, rows without their pitch.
void WorkCount::Move(const std::string& cause, int tensor, const Box& box) {
  if (IsEmpty(box)) return;
  const int64_t block = hw_profiles::LayoutOf(plan_.profile, held_.at(tensor).role).channel_block;
  const base::DataType type = plan_.network.tensors[static_cast<size_t>(tensor)].type;
  work_.off_chip[cause] += StoredBytes(NameExtents(ExtentsOf(box)), type, block, 1);
}

// Constants that are fetched again for every tile: slices by each operator, direct ones in their
// home, for each area of output blocks, with their table once.
void WorkCount::ReadConstants(const Tile& tile) {
  for (const auto& [constant, held] : held_) {
    if (held.role != base::TensorRole::kConstant) continue;
    if (held.residency != Residency::kStreamed && held.residency != Residency::kDirect) continue;
    for (const int reader : users_[static_cast<size_t>(constant)].readers) {
      if (!Contains(subgraph_.interval, reader)) continue;
      const graph::Operator& op = plan_.network.operators[static_cast<size_t>(reader)];
      const std::optional<BlockGrid> grid =
          held.residency == Residency::kDirect ? grids_.Find(op, tile) : std::nullopt;
      const int64_t again = ContentBytes(plan_.network.tensors[static_cast<size_t>(constant)]);
      work_.off_chip["weights"] +=
          Plus(ConstantBytes(plan_, op, constant), Times(again, grid ? grid->areas - 1 : 0));
    }
  }
}

Work WorkCount::Finish() const {
  Work work = work_;
  work.macs_of = macs_;
  for (const auto& [i, macs] : macs_) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(i)];
    const int64_t once =
        MacsFor(plan_.network, op, WholeOf(ShapeOf(plan_.network, op.outputs.front())));
    work.macs = Plus(work.macs, macs);
    work.unknown_work += graph::HasUnknownWork(op) ? 1 : 0;
    work.recomputed_macs = Plus(work.recomputed_macs, std::max<int64_t>(0, macs - once));
  }
  return work;
}

}  // namespace tessera::plan::verify

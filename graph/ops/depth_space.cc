// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "tessera/graph/ops/windows.h"

// Blocks of rows and columns that become channels, and channels that become blocks.
namespace tessera::graph::ops {
namespace {

constexpr std::array<std::string_view, 2> kDepthOrders = {"dcr", "crd"};

std::vector<Field> FieldsOfDepthSpace(Operator& op, Wanted& /*wanted*/, size_t /*operands*/) {
  DepthSpaceAttributes& own = op.MakeOwn<DepthSpaceAttributes>();
  return {{"block", &own.block, Presence::kRequired, 1, kMostWindow}, {"order", &own.order}};
}

Inferred InferDepthToSpace(Operator& op, const Wanted& /*wanted*/,
                           const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  const int64_t block = op.Own<DepthSpaceAttributes>().block;
  const int64_t phases = block * block;
  if (input[1] % phases != 0) {
    return Fault("block",
                 "blocks of " + std::to_string(block) + " need " + std::to_string(phases) +
                     " channels each, of " + std::to_string(input[1]),
                 "a block whose square divides the channels");
  }
  return Shape{input[0], input[1] / phases, input[2] * block, input[3] * block};
}

Inferred InferSpaceToDepth(Operator& op, const Wanted& /*wanted*/,
                           const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  const int64_t block = op.Own<DepthSpaceAttributes>().block;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (input[axis + 2] % block == 0) continue;
    return Fault("block",
                 "blocks of " + std::to_string(block) + " do not divide " +
                     std::to_string(input[axis + 2]) + " " + std::string(kSpatialNames[axis]),
                 "a divisor of rows and columns");
  }
  return Shape{input[0], input[1] * block * block, input[2] / block, input[3] / block};
}

std::vector<AxisMap> MapsOfDepthToSpace(const OperandView& view) {
  const Shape& input = view.Input();
  const Shape& output = view.output;
  const auto& [block, order] = view.op.Own<DepthSpaceAttributes>();
  AxisMap::Folded folded{block, {1, block * output[1], output[1]}};
  if (order == DepthOrder::kCrd) folded.weights = {block * block, block, 1};
  return {SameAxis(0),
          {folded, 1, 3},
          {AxisMap::Digit{block, input[2]}, 2, 1},
          {AxisMap::Digit{block, input[3]}, 3, 1}};
}

std::vector<AxisMap> MapsOfSpaceToDepth(const OperandView& view) {
  const Shape& input = view.Input();
  const auto& [block, order] = view.op.Own<DepthSpaceAttributes>();
  const bool by_phase = order == DepthOrder::kDcr;
  const AxisMap::Digit channel{by_phase ? 1 : block * block, input[1]};
  const AxisMap::Digit row{by_phase ? block * input[1] : block, block};
  const AxisMap::Digit column{by_phase ? input[1] : 1, block};
  return {SameAxis(0),
          {channel, 1, 1},
          {AxisMap::Unfolded{row}, 1, 2},
          {AxisMap::Unfolded{column}, 1, 2, 2}};
}

// The residues of the indices modulo `block`.
std::vector<int64_t> PhasesOf(Extent indices, int64_t block) {
  std::vector<int64_t> phases;
  for (int64_t index = indices.begin; index < std::min(indices.end, indices.begin + block);
       ++index) {
    phases.push_back(index % block);
  }
  return phases;
}

// By definition: the channel of the deep tensor for a channel of the wide one, which has
// `channels`, and the residues in its block.
int64_t DeepChannel(const DepthSpaceAttributes& own, int64_t channels, int64_t channel, int64_t row,
                    int64_t column) {
  const int64_t phase = row * own.block + column;
  return own.order == DepthOrder::kDcr ? phase * channels + channel
                                       : channel * own.block * own.block + phase;
}

// Maps an element of the wide tensor to the same element of the deep tensor.
std::vector<int64_t> ToDepth(const DepthSpaceAttributes& own, int64_t channels,
                             const std::vector<int64_t>& wide) {
  return {wide[0], DeepChannel(own, channels, wide[1], wide[2] % own.block, wide[3] % own.block),
          wide[2] / own.block, wide[3] / own.block};
}

std::vector<int64_t> FromDepth(const DepthSpaceAttributes& own, int64_t channels,
                               const std::vector<int64_t>& deep) {
  const bool dcr = own.order == DepthOrder::kDcr;
  const int64_t phases = own.block * own.block;
  const int64_t phase = dcr ? deep[1] / channels : deep[1] % phases;
  return {deep[0], dcr ? deep[1] % channels : deep[1] / phases,
          deep[2] * own.block + phase / own.block, deep[3] * own.block + phase % own.block};
}

constexpr Reading kReadingOfDepthToSpace =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const auto& own = view.op.Own<DepthSpaceAttributes>();
      if constexpr (std::remove_reference_t<decltype(need)>::kIsHull) {
        const auto block = [&own](int64_t index, auto& add) { add(index / own.block); };
        need.Same(0, output[0]);
        need.Each(1, output[1], [&](int64_t channel, auto& add) {
          for (const int64_t row : PhasesOf(output[2], own.block)) {
            for (const int64_t column : PhasesOf(output[3], own.block))
              add(DeepChannel(own, view.output[1], channel, row, column));
          }
        });
        for (const size_t axis : {2, 3}) need.Each(axis, output[axis], block);
      } else {
        if (output == WholeBox(view.output)) return ReadEverything(view.Input(), need);
        need.SetNumbers(NumbersBehind(
            output, view.output, view.Input(),
            [&](const std::vector<int64_t>& wide) { return ToDepth(own, view.output[1], wide); }));
      }
    });

// Visits the block from which a deep channel may come until it finds the channel.
void ReadBlocks(const OperandView& view, const Box& output, HullNeed& need) {
  const auto& own = view.op.Own<DepthSpaceAttributes>();
  const Shape& in = view.Input();
  Box hull = {{}, {in[1], 0}, {in[2], 0}, {in[3], 0}};
  const auto grow = [](Extent& extent, int64_t least, int64_t most) {
    extent = {std::min(extent.begin, least), std::max(extent.end, most + 1)};
  };
  for (int64_t row = 0; row < own.block; ++row) {
    for (int64_t column = 0; column < own.block; ++column) {
      for (int64_t channel = 0; channel < in[1]; ++channel) {
        const int64_t deep = DeepChannel(own, in[1], channel, row, column);
        if (deep < output[1].begin || deep >= output[1].end) continue;
        grow(hull[1], channel, channel);
        grow(hull[2], output[2].begin * own.block + row, (output[2].end - 1) * own.block + row);
        grow(hull[3], output[3].begin * own.block + column,
             (output[3].end - 1) * own.block + column);
      }
    }
  }
  need.Same(0, output[0]);
  for (size_t axis = 1; axis < hull.size(); ++axis) need.Set(axis, hull[axis]);
}

constexpr Reading kReadingOfSpaceToDepth =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      if constexpr (std::remove_reference_t<decltype(need)>::kIsHull) {
        ReadBlocks(view, output, need);
      } else {
        if (output == WholeBox(view.output)) return ReadEverything(view.Input(), need);
        need.SetNumbers(
            NumbersBehind(output, view.output, view.Input(), [&](const std::vector<int64_t>& deep) {
              return FromDepth(view.op.Own<DepthSpaceAttributes>(), view.Input()[1], deep);
            }));
      }
    });

}  // namespace

std::span<const std::string_view> NamesOf(DepthOrder /*order*/) { return kDepthOrders; }

extern const OperatorDefinition kDepthToSpace = {
    .reads_feature_map = true,
    .fields = FieldsOfDepthSpace,
    .infer_shape = InferDepthToSpace,
    .axis_maps = MapsOfDepthToSpace,
    .reading = kReadingOfDepthToSpace,
};

extern const OperatorDefinition kSpaceToDepth = {
    .reads_feature_map = true,
    .fields = FieldsOfDepthSpace,
    .infer_shape = InferSpaceToDepth,
    .axis_maps = MapsOfSpaceToDepth,
    .reading = kReadingOfSpaceToDepth,
};

}  // namespace tessera::graph::ops

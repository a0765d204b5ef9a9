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
  return {{"block", &op.block, Presence::kRequired, 1, kMostWindow}, {"order", &op.depth_order}};
}

Inferred InferDepthToSpace(Operator& op, const Wanted& /*wanted*/,
                           const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  const int64_t phases = op.block * op.block;
  if (input[1] % phases != 0) {
    return Fault("block",
                 "blocks of " + std::to_string(op.block) + " need " + std::to_string(phases) +
                     " channels each, of " + std::to_string(input[1]),
                 "a block whose square divides the channels");
  }
  return Shape{input[0], input[1] / phases, input[2] * op.block, input[3] * op.block};
}

Inferred InferSpaceToDepth(Operator& op, const Wanted& /*wanted*/,
                           const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  for (size_t axis = 0; axis < 2; ++axis) {
    if (input[axis + 2] % op.block == 0) continue;
    return Fault("block",
                 "blocks of " + std::to_string(op.block) + " do not divide " +
                     std::to_string(input[axis + 2]) + " " + std::string(kSpatialNames[axis]),
                 "a divisor of rows and columns");
  }
  return Shape{input[0], input[1] * op.block * op.block, input[2] / op.block, input[3] / op.block};
}

std::vector<AxisMap> MapsOfDepthToSpace(const OperandView& view) {
  const Shape& input = view.Input();
  const Shape& output = view.output;
  const int64_t block = view.op.block;
  AxisMap::Folded folded{block, {1, block * output[1], output[1]}};
  if (view.op.depth_order == DepthOrder::kCrd) folded.weights = {block * block, block, 1};
  return {SameAxis(0),
          {folded, 1, 3},
          {AxisMap::Digit{block, input[2]}, 2, 1},
          {AxisMap::Digit{block, input[3]}, 3, 1}};
}

std::vector<AxisMap> MapsOfSpaceToDepth(const OperandView& view) {
  const Shape& input = view.Input();
  const int64_t block = view.op.block;
  const bool by_phase = view.op.depth_order == DepthOrder::kDcr;
  const AxisMap::Digit channel{by_phase ? 1 : block * block, input[1]};
  const AxisMap::Digit row{by_phase ? block * input[1] : block, block};
  const AxisMap::Digit column{by_phase ? input[1] : 1, block};
  return {SameAxis(0),
          {channel, 1, 1},
          {AxisMap::Unfolded{row}, 1, 2},
          {AxisMap::Unfolded{column}, 1, 2, 2}};
}

// The residues, of 0 .. block-1, that the indices have.
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
int64_t DeepChannel(const Operator& op, int64_t channels, int64_t channel, int64_t row,
                    int64_t column) {
  const int64_t phase = row * op.block + column;
  return op.depth_order == DepthOrder::kDcr ? phase * channels + channel
                                            : channel * op.block * op.block + phase;
}

// The element of the deep tensor behind one of the wide one.
std::vector<int64_t> ToDepth(const Operator& op, int64_t channels,
                             const std::vector<int64_t>& wide) {
  return {wide[0], DeepChannel(op, channels, wide[1], wide[2] % op.block, wide[3] % op.block),
          wide[2] / op.block, wide[3] / op.block};
}

std::vector<int64_t> FromDepth(const Operator& op, int64_t channels,
                               const std::vector<int64_t>& deep) {
  const bool dcr = op.depth_order == DepthOrder::kDcr;
  const int64_t phases = op.block * op.block;
  const int64_t phase = dcr ? deep[1] / channels : deep[1] % phases;
  return {deep[0], dcr ? deep[1] % channels : deep[1] / phases,
          deep[2] * op.block + phase / op.block, deep[3] * op.block + phase % op.block};
}

// The numbers of the elements that `move` finds, from coordinates to coordinates.
template <typename Move>
std::vector<int64_t> Moved(const OperandView& view, const Box& output, const Move& move) {
  std::vector<int64_t> numbers;
  for (const int64_t number : NumbersOf(output, view.output)) {
    std::vector<int64_t> at(view.output.size());
    int64_t rest = number;
    for (size_t axis = at.size(); axis-- > 0; rest /= view.output[axis])
      at[axis] = rest % view.output[axis];
    const std::vector<int64_t> from = move(at);
    int64_t moved = 0;
    for (size_t axis = 0; axis < from.size(); ++axis)
      moved = moved * view.Input()[axis] + from[axis];
    numbers.push_back(moved);
  }
  return numbers;
}

constexpr Reading kReadingOfDepthToSpace =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      if constexpr (std::remove_reference_t<decltype(need)>::kIsHull) {
        const auto& op = view.op;
        const auto block = [&op](int64_t index, auto& add) { add(index / op.block); };
        ReadSame(0, output[0], need);
        need.Each(1, output[1], [&](int64_t channel, auto& add) {
          for (const int64_t row : PhasesOf(output[2], op.block)) {
            for (const int64_t column : PhasesOf(output[3], op.block))
              add(DeepChannel(op, view.output[1], channel, row, column));
          }
        });
        for (const size_t axis : {2, 3}) need.Each(axis, output[axis], block);
      } else {
        if (output == WholeBox(view.output)) return ReadEverything(view.Input(), need);
        need.SetNumbers(Moved(view, output, [&view](const std::vector<int64_t>& wide) {
          return ToDepth(view.op, view.output[1], wide);
        }));
      }
    });

// Visits the block from which a deep channel may come until it finds the channel.
void ReadBlocks(const OperandView& view, const Box& output, HullNeed& need) {
  const Operator& op = view.op;
  const Shape& in = view.Input();
  Box hull = {{}, {in[1], 0}, {in[2], 0}, {in[3], 0}};
  const auto grow = [](Extent& extent, int64_t least, int64_t most) {
    extent = {std::min(extent.begin, least), std::max(extent.end, most + 1)};
  };
  for (int64_t row = 0; row < op.block; ++row) {
    for (int64_t column = 0; column < op.block; ++column) {
      for (int64_t channel = 0; channel < in[1]; ++channel) {
        const int64_t deep = DeepChannel(op, in[1], channel, row, column);
        if (deep < output[1].begin || deep >= output[1].end) continue;
        grow(hull[1], channel, channel);
        grow(hull[2], output[2].begin * op.block + row, (output[2].end - 1) * op.block + row);
        grow(hull[3], output[3].begin * op.block + column, (output[3].end - 1) * op.block + column);
      }
    }
  }
  ReadSame(0, output[0], need);
  for (size_t axis = 1; axis < hull.size(); ++axis) need.Set(axis, hull[axis]);
}

constexpr Reading kReadingOfSpaceToDepth =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      if constexpr (std::remove_reference_t<decltype(need)>::kIsHull) {
        ReadBlocks(view, output, need);
      } else {
        if (output == WholeBox(view.output)) return ReadEverything(view.Input(), need);
        need.SetNumbers(Moved(view, output, [&view](const std::vector<int64_t>& deep) {
          return FromDepth(view.op, view.Input()[1], deep);
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

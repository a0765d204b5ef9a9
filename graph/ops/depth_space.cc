#include <array>
#include <string>

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

}  // namespace

std::span<const std::string_view> NamesOf(DepthOrder /*order*/) { return kDepthOrders; }

extern const OperatorDefinition kDepthToSpace = {.reads_feature_map = true,
                                                 .fields = FieldsOfDepthSpace,
                                                 .infer_shape = InferDepthToSpace,
                                                 .axis_maps = MapsOfDepthToSpace};

extern const OperatorDefinition kSpaceToDepth = {.reads_feature_map = true,
                                                 .fields = FieldsOfDepthSpace,
                                                 .infer_shape = InferSpaceToDepth,
                                                 .axis_maps = MapsOfSpaceToDepth};

}  // namespace tessera::graph::ops

// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/windows.h"

// Convolutions, with groups, and one filter or several for each channel (depthwise).
namespace tessera::graph::ops {
namespace {

int64_t TapsOf(const Operator& op) { return op.window.kernel[0] * op.window.kernel[1]; }

std::vector<Field> ConvFields(Operator& op, Wanted& wanted, size_t /*operands*/) {
  return WindowFields(op.window, wanted.same_pads,
                      {{"out_channels", &wanted.out_channels, Presence::kRequired, 1},
                       {"groups", &op.groups, Presence::kOptional, 1}},
                      {{"weights_dtype", Field::WeightsType{}}});
}

std::vector<Field> DepthwiseFields(Operator& op, Wanted& wanted, size_t /*operands*/) {
  return WindowFields(op.window, wanted.same_pads,
                      {{"multiplier", &wanted.multiplier, Presence::kOptional, 1}},
                      {{"weights_dtype", Field::WeightsType{}}});
}

Inferred InferConv(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  if (auto fault = CheckGroups(op.groups, input[1], *wanted.out_channels))
    return tl::unexpected(std::move(*fault));
  return InferWindows(op.window, wanted.same_pads, input, *wanted.out_channels);
}

Inferred InferDepthwise(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  const std::optional<int64_t> channels = base::CheckedMul(input[1], wanted.multiplier);
  if (!channels) return Fault("multiplier", "too many output channels", "at most 2^56 elements");
  return InferWindows(op.window, wanted.same_pads, input, *channels);
}

constexpr Reading kReadingOfConv =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      ReadGroups(view, output[1], view.op.groups, need);
      ReadWindows(view, output, view.op.window, Taps::kInPaddingToo, need);
    });

constexpr Reading kReadingOfDepthwise =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      ReadGroups(view, output[1], view.Input()[1], need);
      ReadWindows(view, output, view.op.window, Taps::kInPaddingToo, need);
    });

}  // namespace

extern const OperatorDefinition kConv = {
    .reads_feature_map = true,
    .fields = ConvFields,
    .restate = [](const Operator&, const Shape&, const Shape& output,
                  Wanted& wanted) { wanted.out_channels = output[1]; },
    .infer_shape = InferConv,
    .weight_shape = FilterShape,
    .axis_maps =
        [](const OperandView& view) {
          return MapsOfWindow(view, GroupedAxis(view, view.op.groups), view.op.window);
        },
    .reading = kReadingOfConv,
    .products =
        [](const Operator& op, const Shape& input) {
          return Ratio{TapsOf(op) * (input[1] / op.groups), 1};
        },
    .sum_axis = SumAxisOfChannels,
    .filter_axes = AxesOfFilters,
};

extern const OperatorDefinition kDepthwise = {
    .reads_feature_map = true,
    .fields = DepthwiseFields,
    .restate = [](const Operator&, const Shape& input, const Shape& output,
                  Wanted& wanted) { wanted.multiplier = output[1] / input[1]; },
    .infer_shape = InferDepthwise,
    .weight_shape = [](const Operator& op, const std::vector<Shape>&,
                       const Shape& output) -> std::optional<Shape> {
      return Shape{output[1], 1, op.window.kernel[0], op.window.kernel[1]};
    },
    .axis_maps =
        [](const OperandView& view) {
          return MapsOfWindow(view, GroupedAxis(view, view.Input()[1]), view.op.window);
        },
    .reading = kReadingOfDepthwise,
    .products =
        [](const Operator& op, const Shape&) {
          return Ratio{TapsOf(op), 1};
        },
    .filter_axes = AxesOfFilters,
};

}  // namespace tessera::graph::ops

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/windows.h"

// Transposed convolutions: windows slide over the output.
namespace tessera::graph::ops {
namespace {

std::vector<Field> FieldsOfTransposedConv(Operator& op, Wanted& wanted, size_t /*operands*/) {
  return WindowFields(
      op.window, wanted.same_pads,
      {{"out_channels", &wanted.out_channels, Presence::kRequired, 1},
       {"groups", &op.groups, Presence::kOptional, 1}},
      {{"output_padding", &wanted.output_padding, Presence::kOptional, 0, kMostWindow},
       {"weights_dtype", Field::WeightsType{}}});
}

void RestateTransposedConv(const Operator& op, const Shape& input, const Shape& output,
                           Wanted& wanted) {
  wanted.out_channels = output[1];
  const Window& window = op.window;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t padded = (input[axis + 2] - 1) * window.stride[axis] + ReachOf(window, axis);
    wanted.output_padding[axis] =
        output[axis + 2] + window.pad_low[axis] + window.pad_high[axis] - padded;
  }
}

// Pads so that the output has extent * stride indices. If the kernel does not reach that far, the
// last ones belong to the output padding.
void PadTransposedToSame(Window& window, size_t axis, int64_t& output_padding) {
  const int64_t reach = ReachOf(window, axis);
  const int64_t total = std::max<int64_t>(reach - window.stride[axis], 0);
  output_padding = std::max<int64_t>(window.stride[axis] - reach, 0);
  window.pad_low[axis] = total / 2;
  window.pad_high[axis] = total - total / 2;
}

Inferred InferTransposedConv(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  if (auto fault = CheckGroups(op.groups, input[1], *wanted.out_channels)) {
    return tl::unexpected(std::move(*fault));
  }
  Shape output = {input[0], *wanted.out_channels, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t output_padding = wanted.output_padding[axis];
    if (wanted.same_pads) PadTransposedToSame(op.window, axis, output_padding);
    const Window& window = op.window;
    const int64_t reach = ReachOf(window, axis);
    const std::optional<int64_t> steps = base::CheckedMul(input[axis + 2] - 1, window.stride[axis]);
    if (!steps) return Fault("stride", "the output passes 2^62 elements");
    output[axis + 2] =
        *steps + output_padding + reach - window.pad_low[axis] - window.pad_high[axis];
    if (output[axis + 2] < 1) {
      return Fault(
          "pads", "pads leave nothing of the " + std::string(kSpatialNames[axis]),
          "less than the " + std::to_string(*steps + output_padding + reach) + " that there are");
    }
  }
  return output;
}

AxisMap SpreadAxis(const OperandView& view, size_t spatial) {
  const Window& window = view.op.window;
  const AxisMap::Spread spread{.extent = view.Input()[spatial + 2],
                               .output_extent = view.output[spatial + 2],
                               .kernel = window.kernel[spatial],
                               .stride = window.stride[spatial],
                               .dilation = window.dilation[spatial],
                               .pad = window.pad_low[spatial]};
  return {spread, spatial + 2, 1};
}

std::vector<AxisMap> MapsOfTransposedConv(const OperandView& view) {
  return {SameAxis(0), GroupedAxis(view, view.op.groups), SpreadAxis(view, 0), SpreadAxis(view, 1)};
}

// The taps of the kernel are divided evenly among the outputs of a stride.
Ratio ProductsOfTransposedConv(const Operator& op, const Shape& input) {
  const Window& window = op.window;
  return {window.kernel[0] * window.kernel[1] * (input[1] / op.groups),
          window.stride[0] * window.stride[1]};
}

// By definition: input index i adds to output i * stride - pad + tap * dilation.
template <typename Need>
void ReadSpreadTaps(size_t axis, Extent outputs, const Window& window, Need& need) {
  const size_t spatial = axis - 2;
  need.Each(axis, outputs, [&](int64_t output, auto& add) {
    for (int64_t tap = 0; tap < window.kernel[spatial]; ++tap) {
      const int64_t way = output + window.pad_low[spatial] - tap * window.dilation[spatial];
      if (way >= 0 && way % window.stride[spatial] == 0) add(way / window.stride[spatial]);
    }
  });
}

constexpr Reading kReadingOfTransposedConv =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      need.Same(0, output[0]);
      ReadGroups(view, output[1], view.op.groups, need);
      for (const size_t axis : {2, 3}) ReadSpreadTaps(axis, output[axis], view.op.window, need);
    });

}  // namespace

extern const OperatorDefinition kTransposedConv = {
    .reads_feature_map = true,
    .fields = FieldsOfTransposedConv,
    .restate = RestateTransposedConv,
    .infer_shape = InferTransposedConv,
    .weight_shape = FilterShape,
    .axis_maps = MapsOfTransposedConv,
    .reading = kReadingOfTransposedConv,
    .products = ProductsOfTransposedConv,
    .sum_axis = SumAxisOfChannels,
    .filter_axes = AxesOfFilters,
};

}  // namespace tessera::graph::ops

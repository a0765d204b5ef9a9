// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/ops/windows.h"

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::graph::ops {
namespace {

AxisMap SlidingAxis(const OperandView& view, const Window& window, size_t spatial) {
  const AxisMap::Slide slide{.extent = view.Input()[spatial + 2],
                             .output_extent = view.output[spatial + 2],
                             .kernel = window.kernel[spatial],
                             .stride = window.stride[spatial],
                             .dilation = window.dilation[spatial],
                             .pad = window.pad_low[spatial]};
  return {slide, spatial + 2, 1};
}

}  // namespace

std::vector<Field> WindowFields(Window& window, bool& same_pads, std::vector<Field> before,
                                const std::vector<Field>& after) {
  std::vector<Field> fields = std::move(before);
  fields.push_back({"kernel", &window.kernel, Presence::kRequired, 1, kMostWindow});
  fields.push_back({"stride", &window.stride, Presence::kOptional, 1, kMostWindow});
  fields.push_back({"pads", Field::Pads{&window, &same_pads}, Presence::kOptional, 0, kMostWindow});
  fields.push_back({"dilation", &window.dilation, Presence::kOptional, 1, kMostWindow});
  fields.insert(fields.end(), after.begin(), after.end());
  return fields;
}

Inferred InferWindows(Window& window, bool same_pads, const Shape& input, int64_t channels) {
  Shape output = {input[0], channels, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = input[axis + 2];
    if (same_pads) PadToSame(window, axis, extent);
    const int64_t reach = ReachOf(window, axis);
    const int64_t padded = extent + window.pad_low[axis] + window.pad_high[axis];
    if (reach > padded) return ReachesTooFar(axis, reach, padded);
    output[axis + 2] = (padded - reach) / window.stride[axis] + 1;
  }
  return output;
}

void PadToSame(Window& window, size_t axis, int64_t extent) {
  const int64_t reach = ReachOf(window, axis);
  const int64_t windows = base::CeilDiv(extent, window.stride[axis]);
  const int64_t total = std::max<int64_t>((windows - 1) * window.stride[axis] + reach - extent, 0);
  window.pad_low[axis] = total / 2;
  window.pad_high[axis] = total - total / 2;
}

tl::unexpected<ShapeFault> ReachesTooFar(size_t axis, int64_t reach, int64_t padded) {
  return Fault("kernel",
               "kernel reaches over " + std::to_string(reach) + " " +
                   std::string(kSpatialNames[axis]) + " of a padded input of " +
                   std::to_string(padded),
               "at most the padded input", "make the kernel or its dilation smaller, or pad more");
}

std::optional<ShapeFault> CheckGroups(int64_t groups, int64_t in_channels, int64_t out_channels) {
  const auto fault = [groups](std::string_view attribute, int64_t channels, std::string_view side,
                              std::string expected) {
    return Fault(std::string(attribute),
                 std::to_string(groups) + " groups do not divide " + std::to_string(channels) +
                     " " + std::string(side) + " channels",
                 std::move(expected))
        .value();
  };
  if (in_channels % groups != 0) {
    return fault("groups", in_channels, "input", "a divisor of " + std::to_string(in_channels));
  }
  if (out_channels % groups != 0) {
    return fault("out_channels", out_channels, "output", "a multiple of " + std::to_string(groups));
  }
  return std::nullopt;
}

Holes HolesOf(const Window& window, const Shape& output) {
  Holes holes = Holes::kNone;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (window.stride[axis] > window.kernel[axis]) return Holes::kMaybe;
    if (window.dilation[axis] == 1 || window.kernel[axis] == 1) continue;
    // With a stride of 1 each tap reads as many adjacent elements as there are outputs.
    const bool meet = window.stride[axis] == 1 && axis + 2 < output.size() &&
                      output[axis + 2] >= window.dilation[axis];
    if (!meet) return Holes::kMaybe;
    holes = Holes::kInParts;
  }
  return holes;
}

std::optional<Shape> FilterShape(const Operator& op, const std::vector<Shape>& inputs,
                                 const Shape& output) {
  return Shape{output[1], inputs[0][1] / op.groups, op.window.kernel[0], op.window.kernel[1]};
}

std::optional<FilterAxes> AxesOfFilters(const Operator& op, size_t rank, size_t output_rank) {
  if (rank != 4 || output_rank != 4) return std::nullopt;
  return FilterAxes{0, 1, SumAxisOf(op, 0, 4)};
}

std::optional<size_t> SumAxisOfChannels(const Operator& op, size_t operand, size_t rank) {
  if (op.groups != 1 || operand != 0 || rank != 4) return std::nullopt;
  return 1;
}

AxisMap GroupedAxis(const OperandView& view, int64_t groups) {
  const int64_t channels = view.Input()[1];
  if (groups == 1) return WholeAxis(channels);
  const AxisMap::Grouped grouped{view.output[1] / groups, channels / groups};
  if (grouped.outputs == 1 && grouped.inputs == 1) return SameAxis(1);
  return {grouped, 1, 1};
}

std::vector<AxisMap> MapsOfWindow(const OperandView& view, AxisMap channels, const Window& window) {
  return {SameAxis(0), std::move(channels), SlidingAxis(view, window, 0),
          SlidingAxis(view, window, 1)};
}

}  // namespace tessera::graph::ops

#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Shared by kinds with windows of rows and columns: convolutions, pools, and described operators.
namespace tessera::graph::ops {

inline constexpr int64_t kMostWindow = 65536;  // larger taps, steps and pads are mistakes

inline constexpr std::array<std::string_view, 2> kSpatialNames = {"rows", "columns"};

// The number of indices from the first tap to the last, along rows [0] or columns [1].
inline int64_t ReachOf(const Window& window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilation[axis] + 1;
}

// The keys kernel, stride, pads and dilation.
std::vector<Field> WindowFields(Window& window, bool& same_pads);

// [batch, channels, windows along rows, windows along columns]. If pads follow from `same_pads`,
// they are filled in.
Inferred InferWindows(Window& window, bool same_pads, const Shape& input, int64_t channels);

// Pads so that ceil(extent / stride) windows fit. An odd pad is below or to the right.
void PadToSame(Window& window, size_t axis, int64_t extent);

tl::unexpected<ShapeFault> ReachesTooFar(size_t axis, int64_t reach, int64_t padded);

// Why that many groups do not divide the channels, if they do not.
std::optional<ShapeFault> CheckGroups(int64_t groups, int64_t in_channels, int64_t out_channels);

// [output channels, channels of a group, kernel rows, kernel columns], and their axes.
std::optional<Shape> FilterShape(const Operator& op, const std::vector<Shape>& inputs,
                                 const Shape& output);
std::optional<FilterAxes> AxesOfFilters(const Operator& op, size_t rank, size_t output_rank);

// The channels that a channel of the output reads if both fall into that many groups.
AxisMap GroupedAxis(const OperandView& view, int64_t groups);

// The same batch, those channels, and windows that slide over rows and columns.
std::vector<AxisMap> MapsOfWindow(const OperandView& view, AxisMap channels, const Window& window);

}  // namespace tessera::graph::ops

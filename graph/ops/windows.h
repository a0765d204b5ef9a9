// SPDX-License-Identifier: Apache-2.0

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

// The first tap for which the test holds; `taps` if it holds for none. The test holds for all taps
// after such a tap. Cost: log(taps) tests.
template <typename Test>
int64_t FirstOf(int64_t taps, const Test& test) {
  int64_t begin = 0;
  for (int64_t end = taps; begin < end;) {
    const int64_t middle = begin + (end - begin) / 2;
    if (test(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

inline constexpr std::array<std::string_view, 2> kSpatialNames = {"rows", "columns"};

// The number of indices from the first tap to the last, along rows [0] or columns [1].
inline int64_t ReachOf(const Window& window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilation[axis] + 1;
}

// `output`: the shape of the result.
Holes HolesOf(const Window& window, const Shape& output);

// The fields `before`, those of the keys kernel, stride, pads and dilation, and the fields `after`.
std::vector<Field> WindowFields(Window& window, bool& same_pads, std::vector<Field> before,
                                const std::vector<Field>& after);

// [batch, channels, windows along rows, windows along columns]. If pads follow from `same_pads`,
// they are filled in.
Inferred InferWindows(Window& window, bool same_pads, const Shape& input, int64_t channels);

// Sets the pads so that ceil(extent / stride) windows fit. An odd pad is below or to the right.
void PadToSame(Window& window, size_t axis, int64_t extent);

tl::unexpected<ShapeFault> ReachesTooFar(size_t axis, int64_t reach, int64_t padded);

// Returns a fault if the number of groups does not divide the channels.
std::optional<ShapeFault> CheckGroups(int64_t groups, int64_t in_channels, int64_t out_channels);

// FilterShape returns [output channels, channels of a group, kernel rows, kernel columns].
// AxesOfFilters returns the axes of such a constant.
std::optional<Shape> FilterShape(const Operator& op, const std::vector<Shape>& inputs,
                                 const Shape& output);
std::optional<FilterAxes> AxesOfFilters(const Operator& op, size_t rank, size_t output_rank);

// The channels of the operand, if each output adds up all of them: if there is one group.
std::optional<size_t> SumAxisOfChannels(const Operator& op, size_t operand, size_t rank);

// The map of channels if the channels of input and output are divided into that many groups.
AxisMap GroupedAxis(const OperandView& view, int64_t groups);

// The maps of an operator with a window: the same batch, the given map of channels, and windows
// that slide over rows and columns.
std::vector<AxisMap> MapsOfWindow(const OperandView& view, AxisMap channels, const Window& window);

// Reads one axis of a window by definition: output index o reads o * stride - pad + tap * dilation.
// Indices ascend with the taps, so the first and the last tap inside the operand are enough for a
// hull.
template <typename Need>
void ReadTaps(size_t axis, Extent outputs, int64_t extent, const Window& window, Taps taps,
              Need& need) {
  const size_t spatial = axis - 2;
  need.Each(
      axis, outputs,
      [&](int64_t output, auto& add) {
        const auto index_of = [&](int64_t tap) {
          return output * window.stride[spatial] - window.pad_low[spatial] +
                 tap * window.dilation[spatial];
        };
        if constexpr (Need::kIsHull) {
          const int64_t first =
              FirstOf(window.kernel[spatial], [&](int64_t tap) { return index_of(tap) >= 0; });
          const int64_t end =
              FirstOf(window.kernel[spatial], [&](int64_t tap) { return index_of(tap) >= extent; });
          if (first < end) add.Range(index_of(first), index_of(end - 1) + 1);
        } else {
          for (int64_t tap = 0; tap < window.kernel[spatial]; ++tap) add(index_of(tap));
        }
      },
      taps);
}

// Each output channel reads all channels of its group.
template <typename Need>
void ReadGroups(const OperandView& view, Extent outputs, int64_t groups, Need& need) {
  const int64_t outputs_each = view.output[1] / groups;
  const int64_t inputs_each = view.Input()[1] / groups;
  need.Each(1, outputs, [&](int64_t output, auto& add) {
    const int64_t group = output / outputs_each;
    add.Range(group * inputs_each, (group + 1) * inputs_each);
  });
}

// Reads the same batch, and windows over rows and columns.
template <typename Need>
void ReadWindows(const OperandView& view, const Box& output, const Window& window, Taps taps,
                 Need& need) {
  need.Same(0, output[0]);
  for (const size_t axis : {2, 3})
    ReadTaps(axis, output[axis], view.Input()[axis], window, taps, need);
}

}  // namespace tessera::graph::ops

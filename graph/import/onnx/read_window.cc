// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/onnx/read_window.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"

namespace tessera::graph::import::onnx {
namespace {

constexpr int64_t kMostWindow = 65536;  // as in YAML networks

struct WindowPads {
  std::array<int64_t, 2> low = {0, 0};
  std::array<int64_t, 2> high = {0, 0};
  bool operator==(const WindowPads&) const = default;
};

// Explicit pads: all low ones, then all high ones.
tl::expected<WindowPads, common::Obstacle> ReadWindowPads(const common::Node& node, size_t axes) {
  WindowPads pads;
  const std::vector<int64_t> stated = node.Ints("pads");
  if (stated.empty()) return pads;
  if (stated.size() != 2 * axes) {
    return common::Fault("'pads' has " + std::to_string(stated.size()) + " entries",
                         std::to_string(2 * axes) + ": two for each spatial axis");
  }
  for (const int64_t pad : stated) {
    if (pad < 0) return common::Barrier("its pads are negative");
    if (pad > kMostWindow)
      return common::Barrier("a pad of " + std::to_string(pad) + " is beyond 65536");
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    pads.low[axis + 2 - axes] = stated[axis];
    pads.high[axis + 2 - axes] = stated[axis + axes];
  }
  return pads;
}

// ceil(extent / stride) windows fit. `upper` decides the side of an odd pad.
void PadToSame(Window& window, size_t axis, int64_t extent, bool upper) {
  const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
  const int64_t windows = base::CeilDiv(extent, window.stride[axis]);
  const int64_t total = std::max<int64_t>((windows - 1) * window.stride[axis] + reach - extent, 0);
  window.pad_low[axis] = upper ? total / 2 : total - total / 2;
  window.pad_high[axis] = total - window.pad_low[axis];
}

}  // namespace

std::optional<Shape> AsFeatureMap(const Shape& shape) {
  if (shape.size() == 4) return shape;
  if (shape.size() == 3) return Shape{shape[0], shape[1], 1, shape[2]};
  return std::nullopt;
}

tl::unexpected<common::Obstacle> NoFeatureMap(const Shape& shape) {
  if (shape.size() < 3) return common::Barrier("its input has no axis to slide over");
  return common::Barrier("it slides over " + std::to_string(shape.size() - 2) +
                         " axes; known are 1 and 2");
}

tl::expected<std::array<int64_t, 2>, common::Obstacle> ReadSpatial(const common::Node& node,
                                                                   std::string_view attribute,
                                                                   size_t axes, int64_t otherwise,
                                                                   int64_t least) {
  std::array<int64_t, 2> values = {otherwise, otherwise};
  const std::vector<int64_t> stated =
      node.Defines(attribute) ? node.Ints(attribute) : std::vector<int64_t>{};
  if (stated.empty()) return values;
  if (stated.size() != axes) {
    return common::Fault(
        "'" + std::string(attribute) + "' has " + std::to_string(stated.size()) + " entries",
        std::to_string(axes) + ": one for each spatial axis");
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    if (stated[axis] < least) {
      return common::Fault("'" + std::string(attribute) + "' holds " + std::to_string(stated[axis]),
                           "at least " + std::to_string(least));
    }
    if (stated[axis] > kMostWindow)
      return common::Barrier("'" + std::string(attribute) + "' holds " +
                             std::to_string(stated[axis]) + ", beyond 65536");
    values[axis + 2 - axes] = stated[axis];
  }
  return values;
}

tl::expected<Window, common::Obstacle> ReadWindow(const common::Node& node, const Shape& input,
                                                  const std::vector<int64_t>& kernel) {
  const size_t axes = input.size() - 2;
  if (kernel.size() != axes) {
    return common::Fault("a kernel of " + std::to_string(kernel.size()) +
                             " axes on an input of shape " + ops::ToText(input),
                         std::to_string(axes) + " axes");
  }
  Window window;
  for (size_t axis = 0; axis < axes; ++axis) {
    if (kernel[axis] < 1)
      return common::Fault("a kernel of extent " + std::to_string(kernel[axis]), "at least 1");
    if (kernel[axis] > kMostWindow)
      return common::Barrier("a kernel of extent " + std::to_string(kernel[axis]) +
                             " is beyond 65536");
    window.kernel[axis + 2 - axes] = kernel[axis];
  }
  const auto stride = ReadSpatial(node, "strides", axes, 1, 1);
  if (!stride) return tl::unexpected(stride.error());
  const auto dilation = ReadSpatial(node, "dilations", axes, 1, 1);
  if (!dilation) return tl::unexpected(dilation.error());
  window.stride = *stride;
  window.dilation = *dilation;
  const std::string automatic = node.Text("auto_pad", "NOTSET");
  const tl::expected<WindowPads, common::Obstacle> pads = ReadWindowPads(node, axes);
  if (!pads) return tl::unexpected(pads.error());
  if (automatic == "NOTSET" || automatic.empty()) {
    window.pad_low = pads->low;
    window.pad_high = pads->high;
    return window;
  }
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (size_t axis = 0; axis < axes; ++axis)
      PadToSame(window, axis + 2 - axes, input[axis + 2], automatic == "SAME_UPPER");
  } else if (automatic != "VALID") {
    return common::Fault("auto_pad is '" + automatic + "'",
                         "NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  }
  if (*pads != WindowPads{} && *pads != WindowPads{window.pad_low, window.pad_high}) {
    return common::Fault("auto_pad is '" + automatic + "', and 'pads' holds other pads",
                         "one of the two");
  }
  return window;
}

}  // namespace tessera::graph::import::onnx

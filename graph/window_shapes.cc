#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/graph/shape_faults.h"

// Shapes of convolutions and pools.
namespace tessera::graph {
namespace {

// Pads so that ceil(extent / stride) windows fit; the odd one goes below or to the right.
void PadToSame(Window& window, size_t axis, int64_t extent) {
  const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
  const int64_t windows = base::CeilDiv(extent, window.stride[axis]);
  const int64_t total = std::max<int64_t>((windows - 1) * window.stride[axis] + reach - extent, 0);
  window.pad_low[axis] = total / 2;
  window.pad_high[axis] = total - total / 2;
}

tl::unexpected<ShapeFault> ReachesTooFar(size_t axis, int64_t reach, int64_t padded) {
  return Fault("kernel",
               "kernel reaches over " + std::to_string(reach) + " " + std::string(kSpatialNames[axis]) +
                   " of a padded input of " + std::to_string(padded),
               "at most the padded input", "make the kernel or its dilation smaller, or pad more");
}

Inferred InferWindows(Operator& op, const Wanted& wanted, const Shape& input, int64_t channels) {
  Shape output = {input[0], channels, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = input[axis + 2];
    if (wanted.same_pads) PadToSame(op.window, axis, extent);
    const int64_t reach = (op.window.kernel[axis] - 1) * op.window.dilation[axis] + 1;
    const int64_t padded = extent + op.window.pad_low[axis] + op.window.pad_high[axis];
    if (reach > padded) return ReachesTooFar(axis, reach, padded);
    output[axis + 2] = (padded - reach) / op.window.stride[axis] + 1;
  }
  return output;
}

std::optional<ShapeFault> CheckGroups(int64_t groups, int64_t in_channels, int64_t out_channels) {
  const auto fault = [groups](std::string_view attribute, int64_t channels, std::string_view side,
                              std::string expected) {
    return Fault(std::string(attribute),
                 std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " " +
                     std::string(side) + " channels",
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

// Pads so that the output has extent * stride indices; a kernel that does not reach that far leaves the last
// ones to the output padding.
void PadTransposedToSame(Operator& op, size_t axis, int64_t& output_padding) {
  Window& window = op.window;
  const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
  const int64_t total = std::max<int64_t>(reach - window.stride[axis], 0);
  output_padding = std::max<int64_t>(window.stride[axis] - reach, 0);
  window.pad_low[axis] = total / 2;
  window.pad_high[axis] = total - total / 2;
}

}  // namespace

Inferred InferConv(Operator& op, const Wanted& wanted, const Shape& input) {
  if (auto fault = CheckGroups(op.groups, input[1], *wanted.out_channels)) {
    return tl::unexpected(std::move(*fault));
  }
  return InferWindows(op, wanted, input, *wanted.out_channels);
}

Inferred InferDepthwise(Operator& op, const Wanted& wanted, const Shape& input) {
  const std::optional<int64_t> channels = base::CheckedMul(input[1], wanted.multiplier);
  if (!channels) return Fault("multiplier", "too many output channels", "at most 2^56 elements");
  return InferWindows(op, wanted, input, *channels);
}

Inferred InferTransposedConv(Operator& op, const Wanted& wanted, const Shape& input) {
  if (auto fault = CheckGroups(op.groups, input[1], *wanted.out_channels)) {
    return tl::unexpected(std::move(*fault));
  }
  Shape output = {input[0], *wanted.out_channels, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t output_padding = wanted.output_padding[axis];
    if (wanted.same_pads) PadTransposedToSame(op, axis, output_padding);
    const Window& window = op.window;
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const std::optional<int64_t> steps = base::CheckedMul(input[axis + 2] - 1, window.stride[axis]);
    if (!steps) return Fault("stride", "the output passes 2^62 elements");
    output[axis + 2] = *steps + output_padding + reach - window.pad_low[axis] - window.pad_high[axis];
    if (output[axis + 2] < 1) {
      return Fault("pads", "pads leave nothing of the " + std::string(kSpatialNames[axis]),
                   "less than the " + std::to_string(*steps + output_padding + reach) + " that there are");
    }
  }
  return output;
}

// Where the extents of a pool are stated, or rounded up, the last windows may reach beyond the padding, even the only one: the padding
// grows until they do not, so that whatever stores padding stores all of it.
Inferred InferPool(Operator& op, const Wanted& wanted, const Shape& input) {
  if (!wanted.ceil_mode && wanted.size.empty()) return InferWindows(op, wanted, input, input[1]);
  if (!wanted.size.empty() && wanted.size.size() != 2) {
    return Fault("size", "a size of " + std::to_string(wanted.size.size()) + " extents", "[rows, columns]");
  }
  Shape output = {input[0], input[1], 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    Window& window = op.window;
    const int64_t extent = input[axis + 2];
    if (wanted.same_pads) PadToSame(window, axis, extent);
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const int64_t padded = extent + window.pad_low[axis] + window.pad_high[axis];
    const int64_t rest = padded - reach;
    if (rest <= -window.stride[axis]) return ReachesTooFar(axis, reach, padded);
    const int64_t least = rest < 0 ? 1 : rest / window.stride[axis] + 1;
    const int64_t most = rest < 0 ? 1 : base::CeilDiv(rest, window.stride[axis]) + 1;
    const bool begins_behind = (most - 1) * window.stride[axis] >= extent + window.pad_low[axis];
    const int64_t asked = !wanted.size.empty() ? wanted.size[axis] : begins_behind ? least : most;
    if (asked < least || asked > most) {
      return Fault("size", std::to_string(asked) + " " + std::string(kSpatialNames[axis]),
                   std::to_string(least) + " to " + std::to_string(most));
    }
    output[axis + 2] = asked;
    const int64_t last_end = (asked - 1) * window.stride[axis] + reach - window.pad_low[axis];
    window.pad_high[axis] = std::max(window.pad_high[axis], last_end - extent);
  }
  return output;
}

}  // namespace tessera::graph

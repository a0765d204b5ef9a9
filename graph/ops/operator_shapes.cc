#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/shape_inference.h"

// Shapes of convolutions and pools.
namespace tessera::graph::ops {

namespace {

// Pads so that ceil(extent / stride) windows fit. An odd pad is below or to the right.
void PadToSame(Window& window, size_t axis, int64_t extent) {
  const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
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

// Pads so that the output has extent * stride indices. If the kernel does not reach that far, the
// last ones belong to the output padding.
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

// If the extents of a pool are stated, or rounded up, the last windows (even the only one) may
// reach beyond the padding. The padding then grows until they do not, so that all of the padding is
// stored where padding is stored.
Inferred InferPool(Operator& op, const Wanted& wanted, const Shape& input) {
  if (!wanted.ceil_mode && wanted.size.empty()) return InferWindows(op, wanted, input, input[1]);
  if (!wanted.size.empty() && wanted.size.size() != 2) {
    return Fault("size", "a size of " + std::to_string(wanted.size.size()) + " extents",
                 "[rows, columns]");
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

// Shapes of operators that move data or resample it.
namespace {

tl::unexpected<ShapeFault> NotOneForEachAxis(std::string attribute, size_t found, size_t axes) {
  return Fault(std::move(attribute),
               "a list of " + std::to_string(found) + " for " + std::to_string(axes) + " axes",
               "one for each axis of the input");
}

// floor(extent * scale); scales are at most 2^40 over 2^40.
std::optional<int64_t> ScaledExtent(int64_t extent, const Ratio& scale) {
  __extension__ using Wide = __int128;
  const Wide scaled = Wide{extent} * scale.numerator / scale.denominator;
  if (scaled > kMostElements) return std::nullopt;
  return static_cast<int64_t>(scaled);
}

}  // namespace

Inferred InferSlice(Operator& op, const Wanted& wanted, const Shape& input) {
  if (op.steps.empty()) op.steps.assign(input.size(), 1);
  if (op.starts.size() != input.size())
    return NotOneForEachAxis("starts", op.starts.size(), input.size());
  if (op.steps.size() != input.size())
    return NotOneForEachAxis("steps", op.steps.size(), input.size());
  const Shape& output = *wanted.shape;
  if (output.size() != input.size()) return NotOneForEachAxis("shape", output.size(), input.size());
  if (!IsCountable(output)) return Fault("shape", "shape " + ToText(output) + " is too large");
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const std::optional<int64_t> way = base::CheckedMul(output[axis] - 1, op.steps[axis]);
    const std::optional<int64_t> last =
        way ? base::CheckedAdd(op.starts[axis], *way) : std::nullopt;
    const auto inside = [&](int64_t index) { return 0 <= index && index < input[axis]; };
    if (op.steps[axis] == 0) return Fault("steps", "a step of 0", "any other");
    if (inside(op.starts[axis]) && last && inside(*last)) continue;
    return Fault("starts",
                 std::to_string(output[axis]) + " elements from " +
                     std::to_string(op.starts[axis]) + " in steps of " +
                     std::to_string(op.steps[axis]) + " leave axis " + std::to_string(axis) +
                     " of " + std::to_string(input[axis]),
                 "elements of the input");
  }
  return output;
}

Inferred InferPad(Operator& op, const Shape& input) {
  Padding& padding = op.padding;
  if (padding.low.empty()) padding.low.assign(input.size(), 0);
  if (padding.high.empty()) padding.high.assign(input.size(), 0);
  if (padding.low.size() != input.size())
    return NotOneForEachAxis("low", padding.low.size(), input.size());
  if (padding.high.size() != input.size())
    return NotOneForEachAxis("high", padding.high.size(), input.size());
  Shape output = input;
  for (size_t axis = 0; axis < input.size(); ++axis)
    output[axis] += padding.low[axis] + padding.high[axis];
  return output;
}

Inferred InferGather(const Operator& op, const Wanted& wanted, const Shape& input) {
  const auto axis = static_cast<size_t>(op.axis);
  if (op.indices.empty()) return Fault("indices", "no indices", "at least one");
  for (const int64_t index : op.indices) {
    if (index >= 0 && index < input[axis]) continue;
    return Fault("indices",
                 "index " + std::to_string(index) + " of an axis of " + std::to_string(input[axis]),
                 "0 to " + std::to_string(input[axis] - 1));
  }
  Shape output = input;
  output[axis] = static_cast<int64_t>(op.indices.size());
  if (wanted.keep_axes) return output;
  if (op.indices.size() > 1)
    return Fault("keep_axes", "several indices, and no axis for them", "one index");
  output.erase(output.begin() + op.axis);
  return output;
}

Inferred InferReshape(const Wanted& wanted, const Shape& input) {
  if (IsCountable(*wanted.shape) && graph::ElementsOf(*wanted.shape) == graph::ElementsOf(input))
    return *wanted.shape;
  return Fault("shape",
               "shape " + ToText(*wanted.shape) + " does not hold the elements of " + ToText(input),
               std::to_string(graph::ElementsOf(input)) + " elements");
}

Inferred InferTranspose(const Operator& op, const Shape& input) {
  std::vector<int> sorted = op.permutation;
  std::sort(sorted.begin(), sorted.end());
  bool complete = sorted.size() == input.size();
  for (size_t axis = 0; complete && axis < sorted.size(); ++axis)
    complete = sorted[axis] == static_cast<int>(axis);
  if (!complete) {
    return Fault("permutation", "not a permutation of the input's axes",
                 "each of 0 to " + std::to_string(input.size() - 1) + " once");
  }
  Shape output;
  for (const int axis : op.permutation) output.push_back(input[static_cast<size_t>(axis)]);
  return output;
}

Inferred InferResize(Operator& op, const Wanted& wanted, const Shape& input) {
  std::vector<Ratio>& scales = op.resize.scales;
  if (wanted.size.size() > input.size()) {
    return Fault(
        "size",
        std::to_string(wanted.size.size()) + " extents for an input of shape " + ToText(input),
        "at most one for each axis");
  }
  if (scales.size() > input.size()) return NotOneForEachAxis("scales", scales.size(), input.size());
  if (scales.empty() && wanted.size.empty())
    return Fault("", "neither size nor scales", "one of them");
  if (!scales.empty()) scales.insert(scales.begin(), input.size() - scales.size(), Ratio{});
  Shape output = input;
  for (size_t axis = 0; axis < scales.size() && wanted.size.empty(); ++axis) {
    const std::optional<int64_t> extent = ScaledExtent(input[axis], scales[axis]);
    if (!extent || *extent < 1) {
      return Fault("scales",
                   std::string(extent ? "nothing is left" : "too much becomes") + " of the " +
                       std::to_string(input[axis]) + " along axis " + std::to_string(axis),
                   "scales that give 1 to 2^56 elements");
    }
    output[axis] = *extent;
  }
  std::copy(wanted.size.rbegin(), wanted.size.rend(), output.rbegin());
  return output;
}

Inferred InferDepthToSpace(const Operator& op, const Shape& input) {
  const int64_t phases = op.block * op.block;
  if (input[1] % phases != 0) {
    return Fault("block",
                 "blocks of " + std::to_string(op.block) + " need " + std::to_string(phases) +
                     " channels each, of " + std::to_string(input[1]),
                 "a block whose square divides the channels");
  }
  return Shape{input[0], input[1] / phases, input[2] * op.block, input[3] * op.block};
}

Inferred InferSpaceToDepth(const Operator& op, const Shape& input) {
  for (size_t axis = 0; axis < 2; ++axis) {
    if (input[axis + 2] % op.block == 0) continue;
    return Fault("block",
                 "blocks of " + std::to_string(op.block) + " do not divide " +
                     std::to_string(input[axis + 2]) + " " + std::string(kSpatialNames[axis]),
                 "a divisor of rows and columns");
  }
  return Shape{input[0], input[1] * op.block * op.block, input[2] / op.block, input[3] / op.block};
}

}  // namespace tessera::graph::ops

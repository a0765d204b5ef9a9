#include "tessera/graph/shape_inference.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "tessera/base/checked.h"

namespace tessera::graph {
namespace {

using Inferred = tl::expected<Shape, ShapeFault>;

constexpr std::array<std::string_view, 2> kSpatialNames = {"rows", "columns"};

tl::unexpected<ShapeFault> Fault(std::string attribute, std::string message, std::string expected = "",
                                 std::string hint = "") {
  return tl::unexpected(
      ShapeFault{std::move(attribute), std::move(message), std::move(expected), std::move(hint)});
}

tl::unexpected<ShapeFault> WrongRank(const Shape& found, std::string expected) {
  return Fault("inputs", "input has shape " + ToText(found), std::move(expected));
}

tl::unexpected<ShapeFault> Disagreeing(const Shape& a, const Shape& b, std::string expected) {
  return Fault("inputs", "shapes " + ToText(a) + " and " + ToText(b) + " do not agree", std::move(expected));
}

// Pads so that ceil(extent / stride) windows fit; the odd one goes below or to the right.
void PadToSame(Window& window, size_t axis, int64_t extent) {
  const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
  const int64_t windows = base::CeilDiv(extent, window.stride[axis]);
  const int64_t total = std::max<int64_t>((windows - 1) * window.stride[axis] + reach - extent, 0);
  window.pad_low[axis] = total / 2;
  window.pad_high[axis] = total - total / 2;
}

Inferred InferWindows(Operator& op, const Wanted& wanted, const Shape& input, int64_t channels) {
  Shape output = {input[0], channels, 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = input[axis + 2];
    if (wanted.same_pads) PadToSame(op.window, axis, extent);
    const int64_t reach = (op.window.kernel[axis] - 1) * op.window.dilation[axis] + 1;
    const int64_t padded = extent + op.window.pad_low[axis] + op.window.pad_high[axis];
    if (reach > padded) {
      return Fault("kernel",
                   "kernel reaches over " + std::to_string(reach) + " " + std::string(kSpatialNames[axis]) +
                       " of a padded input of " + std::to_string(padded),
                   "at most the padded input", "make the kernel or its dilation smaller, or pad more");
    }
    output[axis + 2] = (padded - reach) / op.window.stride[axis] + 1;
  }
  return output;
}

// Where the extents of a pool are stated, or rounded up, the last windows may reach beyond the padding.
Inferred InferPool(Operator& op, const Wanted& wanted, const Shape& input) {
  Inferred output = InferWindows(op, wanted, input, input[1]);
  if (!output || (!wanted.ceil_mode && wanted.size.empty())) return output;
  if (!wanted.size.empty() && wanted.size.size() != 2) {
    return Fault("size", "a size of " + std::to_string(wanted.size.size()) + " extents", "[rows, columns]");
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    const Window& window = op.window;
    const int64_t extent = input[axis + 2];
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const int64_t rest = extent + window.pad_low[axis] + window.pad_high[axis] - reach;
    const int64_t least = (*output)[axis + 2];
    const int64_t most = base::CeilDiv(rest, window.stride[axis]) + 1;
    const bool begins_behind = (most - 1) * window.stride[axis] >= extent + window.pad_low[axis];
    if (wanted.size.empty()) {
      (*output)[axis + 2] = begins_behind ? least : most;
      continue;
    }
    if (wanted.size[axis] < least || wanted.size[axis] > most) {
      return Fault("size", std::to_string(wanted.size[axis]) + " " + std::string(kSpatialNames[axis]),
                   std::to_string(least) + " to " + std::to_string(most));
    }
    (*output)[axis + 2] = wanted.size[axis];
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

Inferred InferConcat(const Operator& op, const std::vector<Shape>& inputs) {
  Shape output = inputs.front();
  const auto axis = static_cast<size_t>(op.axis);
  for (size_t i = 1; i < inputs.size(); ++i) {
    Shape aligned = inputs[i];
    if (aligned.size() == output.size()) aligned[axis] = output[axis];
    if (aligned != output) {
      return Disagreeing(inputs.front(), inputs[i],
                         "equal extents on every axis but " + std::to_string(axis));
    }
    const std::optional<int64_t> extent = base::CheckedAdd(output[axis], inputs[i][axis]);
    if (!extent)
      return Fault("inputs", "the extents of axis " + std::to_string(axis) + " add up to more than 2^62");
    output[axis] = *extent;
  }
  return output;
}

Inferred InferElementwise(const std::vector<Shape>& inputs) {
  Shape output = inputs.front();
  for (const Shape& input : inputs) {
    const std::optional<Shape> together = Broadcast(output, input);
    if (!together) {
      return Disagreeing(output, input, "equal extents, or 1, on every axis counted from the right");
    }
    output = *together;
  }
  return output;
}

Inferred InferMatmul(const Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& first = inputs[0];
  if (first.size() < 2) return WrongRank(first, "at least two axes: [..., rows, depth]");
  const int64_t rows = first[first.size() - (op.transpose_first ? 1 : 2)];
  const int64_t first_depth = first[first.size() - (op.transpose_first ? 2 : 1)];
  if (inputs.size() == 1) {
    Shape output = first;
    output[output.size() - 2] = rows;
    output.back() = *wanted.columns;
    return output;
  }
  const Shape& second = inputs[1];
  if (second.size() < 2) return WrongRank(second, "at least two axes: [..., depth, columns]");
  const size_t rank = second.size();
  const int64_t depth = second[op.transpose_second ? rank - 1 : rank - 2];
  const int64_t columns = second[op.transpose_second ? rank - 2 : rank - 1];
  if (first_depth != depth) {
    return Disagreeing(first, second, "a depth of " + std::to_string(first_depth) + " in the second operand");
  }
  std::optional<Shape> output =
      Broadcast(Shape(first.begin(), first.end() - 2), Shape(second.begin(), second.end() - 2));
  if (!output) return Disagreeing(first, second, "leading axes that are equal or 1");
  output->push_back(rows);
  output->push_back(columns);
  return *output;
}

Inferred InferReshape(const Wanted& wanted, const Shape& input) {
  if (IsCountable(*wanted.shape) && ElementsOf(*wanted.shape) == ElementsOf(input)) return *wanted.shape;
  return Fault("shape", "shape " + ToText(*wanted.shape) + " does not hold the elements of " + ToText(input),
               std::to_string(ElementsOf(input)) + " elements");
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

Inferred InferReduce(const Operator& op, const Wanted& wanted, const Shape& input) {
  Shape output = input;
  for (const int axis : op.axes) output[static_cast<size_t>(axis)] = 1;
  if (wanted.keep_axes) return output;
  for (size_t i = op.axes.size(); i-- > 0;) output.erase(output.begin() + op.axes[i]);
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
  if (op.indices.size() > 1) return Fault("keep_axes", "several indices, and no axis for them", "one index");
  output.erase(output.begin() + op.axis);
  return output;
}

tl::unexpected<ShapeFault> NotOneForEachAxis(std::string attribute, size_t found, size_t axes) {
  return Fault(std::move(attribute),
               "a list of " + std::to_string(found) + " for " + std::to_string(axes) + " axes",
               "one for each axis of the input");
}

Inferred InferSlice(Operator& op, const Wanted& wanted, const Shape& input) {
  if (op.steps.empty()) op.steps.assign(input.size(), 1);
  if (op.starts.size() != input.size()) return NotOneForEachAxis("starts", op.starts.size(), input.size());
  if (op.steps.size() != input.size()) return NotOneForEachAxis("steps", op.steps.size(), input.size());
  const Shape& output = *wanted.shape;
  if (output.size() != input.size()) return NotOneForEachAxis("shape", output.size(), input.size());
  if (!IsCountable(output)) return Fault("shape", "shape " + ToText(output) + " is too large");
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const std::optional<int64_t> way = base::CheckedMul(output[axis] - 1, op.steps[axis]);
    const std::optional<int64_t> last = way ? base::CheckedAdd(op.starts[axis], *way) : std::nullopt;
    const auto inside = [&](int64_t index) { return 0 <= index && index < input[axis]; };
    if (op.steps[axis] == 0) return Fault("steps", "a step of 0", "any other");
    if (inside(op.starts[axis]) && last && inside(*last)) continue;
    return Fault("starts",
                 std::to_string(output[axis]) + " elements from " + std::to_string(op.starts[axis]) +
                     " in steps of " + std::to_string(op.steps[axis]) + " leave axis " +
                     std::to_string(axis) + " of " + std::to_string(input[axis]),
                 "elements of the input");
  }
  return output;
}

Inferred InferPad(Operator& op, const Shape& input) {
  Padding& padding = op.padding;
  if (padding.low.empty()) padding.low.assign(input.size(), 0);
  if (padding.high.empty()) padding.high.assign(input.size(), 0);
  if (padding.low.size() != input.size()) return NotOneForEachAxis("low", padding.low.size(), input.size());
  if (padding.high.size() != input.size())
    return NotOneForEachAxis("high", padding.high.size(), input.size());
  Shape output = input;
  for (size_t axis = 0; axis < input.size(); ++axis) output[axis] += padding.low[axis] + padding.high[axis];
  return output;
}

// floor(extent * scale); scales are at most 2^40 over 2^40.
std::optional<int64_t> ScaledExtent(int64_t extent, const Ratio& scale) {
  __extension__ using Wide = __int128;
  const Wide scaled = Wide{extent} * scale.numerator / scale.denominator;
  if (scaled > kMostElements) return std::nullopt;
  return static_cast<int64_t>(scaled);
}

Inferred InferResize(Operator& op, const Wanted& wanted, const Shape& input) {
  std::vector<Ratio>& scales = op.resize.scales;
  if (wanted.size.size() > input.size()) {
    return Fault("size",
                 std::to_string(wanted.size.size()) + " extents for an input of shape " + ToText(input),
                 "at most one for each axis");
  }
  if (scales.size() > input.size()) return NotOneForEachAxis("scales", scales.size(), input.size());
  if (scales.empty() && wanted.size.empty()) return Fault("", "neither size nor scales", "one of them");
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

Inferred InferUnchecked(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  switch (op.kind) {
    case base::OperatorKind::kConv:
      return InferConv(op, wanted, input);
    case base::OperatorKind::kDepthwise:
      return InferDepthwise(op, wanted, input);
    case base::OperatorKind::kTransposedConv:
      return InferTransposedConv(op, wanted, input);
    case base::OperatorKind::kPool:
      return InferPool(op, wanted, input);
    case base::OperatorKind::kGlobalPool:
      return wanted.keep_axes ? Shape{input[0], input[1], 1, 1} : Shape{input[0], input[1]};
    case base::OperatorKind::kReduce:
      return InferReduce(op, wanted, input);
    case base::OperatorKind::kElementwise:
      return InferElementwise(inputs);
    case base::OperatorKind::kConcat:
      return InferConcat(op, inputs);
    case base::OperatorKind::kSlice:
      return InferSlice(op, wanted, input);
    case base::OperatorKind::kPad:
      return InferPad(op, input);
    case base::OperatorKind::kGather:
      return InferGather(op, wanted, input);
    case base::OperatorKind::kMatmul:
      return InferMatmul(op, wanted, inputs);
    case base::OperatorKind::kReshape:
      return InferReshape(wanted, input);
    case base::OperatorKind::kResize:
      return InferResize(op, wanted, input);
    case base::OperatorKind::kTranspose:
      return InferTranspose(op, input);
    case base::OperatorKind::kDepthToSpace:
      return InferDepthToSpace(op, input);
    case base::OperatorKind::kSpaceToDepth:
      return InferSpaceToDepth(op, input);
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
    case base::OperatorKind::kOpaque:
      break;
  }
  return input;
}

bool NeedsFeatureMap(base::OperatorKind kind) {
  switch (kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kDepthwise:
    case base::OperatorKind::kTransposedConv:
    case base::OperatorKind::kPool:
    case base::OperatorKind::kGlobalPool:
    case base::OperatorKind::kDepthToSpace:
    case base::OperatorKind::kSpaceToDepth:
      return true;
    default:
      return false;
  }
}

bool NeedsAxis(base::OperatorKind kind) {
  return kind == base::OperatorKind::kConcat || kind == base::OperatorKind::kGather;
}

bool NeedsAxes(base::OperatorKind kind) {
  return kind == base::OperatorKind::kReduce || kind == base::OperatorKind::kSoftmax ||
         kind == base::OperatorKind::kLayerNorm;
}

std::optional<ShapeFault> CheckAxis(int axis, const Shape& input) {
  if (axis >= 0 && static_cast<size_t>(axis) < input.size()) return std::nullopt;
  return Fault("axis", "axis " + std::to_string(axis) + " of an input of shape " + ToText(input),
               "0 to " + std::to_string(static_cast<int64_t>(input.size()) - 1))
      .value();
}

std::optional<ShapeFault> CheckAxes(const Operator& op, const Shape& input) {
  if (NeedsAxis(op.kind)) return CheckAxis(op.axis, input);
  if (!NeedsAxes(op.kind)) return std::nullopt;
  if (op.axes.empty()) return Fault("axis", "no axis", "at least one").value();
  for (const int axis : op.axes) {
    if (std::optional<ShapeFault> fault = CheckAxis(axis, input)) return fault;
  }
  if (std::adjacent_find(op.axes.begin(), op.axes.end(), std::greater_equal<>()) == op.axes.end())
    return std::nullopt;
  return Fault("axis", "axes out of order", "ascending axes, each once").value();
}

}  // namespace

tl::expected<Shape, ShapeFault> InferShape(Operator& op, const Wanted& wanted,
                                           const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  if (NeedsFeatureMap(op.kind) && input.size() != 4) {
    return WrongRank(input, "four axes: [batch, channels, rows, columns]");
  }
  if (std::optional<ShapeFault> fault = CheckAxes(op, input)) return tl::unexpected(std::move(*fault));
  Inferred output = InferUnchecked(op, wanted, inputs);
  if (output && !IsCountable(*output)) {
    return Fault("", "output of shape " + ToText(*output) + " is too large", "at most 2^56 elements");
  }
  return output;
}

std::optional<Shape> WeightShapeOf(const Operator& op, const std::vector<Shape>& inputs,
                                   const Shape& output) {
  switch (op.kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kTransposedConv:
      return Shape{output[1], inputs[0][1] / op.groups, op.window.kernel[0], op.window.kernel[1]};
    case base::OperatorKind::kDepthwise:
      return Shape{output[1], 1, op.window.kernel[0], op.window.kernel[1]};
    case base::OperatorKind::kMatmul:
      if (inputs.size() == 1) {
        const Shape& first = inputs[0];
        return Shape{first[first.size() - (op.transpose_first ? 2 : 1)], output.back()};
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<ShapeFault> CheckAccess(const OperandAccess& access, const Shape& operand,
                                      const Shape& output) {
  const auto fault = [&](std::string expected) {
    return Disagreeing(operand, output, std::move(expected)).value();
  };
  switch (access.kind) {
    case AccessKind::kFull:
      return std::nullopt;
    case AccessKind::kElementwise:
      if (Broadcast(operand, output) == output) return std::nullopt;
      return fault("an operand whose extents are those of the output, or 1, counted from the right");
    case AccessKind::kWindow:
      break;
  }
  const bool maps = operand.size() == 4 && output.size() == 4 && operand[0] == output[0];
  if (!maps) return fault("feature maps [batch, channels, rows, columns] of one batch");
  if (!access.every_channel && operand[1] != output[1])
    return fault("as many channels, or every_channel: true");
  return std::nullopt;
}

std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape together = longer;
  const size_t missing = longer.size() - shorter.size();
  for (size_t axis = 0; axis < shorter.size(); ++axis) {
    int64_t& extent = together[axis + missing];
    if (extent == 1) {
      extent = shorter[axis];
    } else if (shorter[axis] != 1 && shorter[axis] != extent) {
      return std::nullopt;
    }
  }
  return together;
}

bool IsCountable(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (extent < 1) return false;
    const std::optional<int64_t> product = base::CheckedMul(elements, extent);
    if (!product || *product > kMostElements) return false;
    elements = *product;
  }
  return true;
}

std::string ToText(const Shape& shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace tessera::graph

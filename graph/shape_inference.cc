#include "tessera/graph/shape_inference.h"

#include <algorithm>
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

Inferred InferConv(Operator& op, const Wanted& wanted, const Shape& input) {
  if (input[1] % op.groups != 0) {
    return Fault(
        "groups",
        std::to_string(op.groups) + " groups do not divide " + std::to_string(input[1]) + " input channels",
        "a divisor of " + std::to_string(input[1]));
  }
  const int64_t channels = *wanted.out_channels;
  if (channels % op.groups != 0) {
    return Fault(
        "out_channels",
        std::to_string(op.groups) + " groups do not divide " + std::to_string(channels) + " output channels",
        "a multiple of " + std::to_string(op.groups));
  }
  return InferWindows(op, wanted, input, channels);
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
  if (inputs.size() == 1) {
    Shape output = first;
    output.back() = *wanted.columns;
    return output;
  }
  const Shape& second = inputs[1];
  if (second.size() < 2) return WrongRank(second, "at least two axes: [..., depth, columns]");
  const size_t rank = second.size();
  const int64_t depth = second[op.transpose_second ? rank - 1 : rank - 2];
  const int64_t columns = second[op.transpose_second ? rank - 2 : rank - 1];
  if (first.back() != depth) {
    return Disagreeing(first, second,
                       "a depth of " + std::to_string(first.back()) + " in the second operand");
  }
  std::optional<Shape> output =
      Broadcast(Shape(first.begin(), first.end() - 2), Shape(second.begin(), second.end() - 2));
  if (!output) return Disagreeing(first, second, "leading axes that are equal or 1");
  output->push_back(first[first.size() - 2]);
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

Inferred InferUnchecked(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  switch (op.kind) {
    case base::OperatorKind::kConv:
      return InferConv(op, wanted, input);
    case base::OperatorKind::kDepthwise:
      return InferDepthwise(op, wanted, input);
    case base::OperatorKind::kPool:
      return InferWindows(op, wanted, input, input[1]);
    case base::OperatorKind::kGlobalPool:
      return wanted.keep_axes ? Shape{input[0], input[1], 1, 1} : Shape{input[0], input[1]};
    case base::OperatorKind::kElementwise:
      return InferElementwise(inputs);
    case base::OperatorKind::kConcat:
      return InferConcat(op, inputs);
    case base::OperatorKind::kMatmul:
      return InferMatmul(op, wanted, inputs);
    case base::OperatorKind::kReshape:
      return InferReshape(wanted, input);
    case base::OperatorKind::kResize:
      return Shape{input[0], input[1], (*wanted.size)[0], (*wanted.size)[1]};
    case base::OperatorKind::kTranspose:
      return InferTranspose(op, input);
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
    case base::OperatorKind::kOpaque:
      break;
  }
  return input;
}

bool NeedsFeatureMap(base::OperatorKind kind) {
  return kind == base::OperatorKind::kConv || kind == base::OperatorKind::kDepthwise ||
         kind == base::OperatorKind::kPool || kind == base::OperatorKind::kGlobalPool ||
         kind == base::OperatorKind::kResize;
}

bool NeedsAxis(base::OperatorKind kind) {
  return kind == base::OperatorKind::kConcat || kind == base::OperatorKind::kSoftmax ||
         kind == base::OperatorKind::kLayerNorm;
}

}  // namespace

tl::expected<Shape, ShapeFault> InferShape(Operator& op, const Wanted& wanted,
                                           const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  if (NeedsFeatureMap(op.kind) && input.size() != 4) {
    return WrongRank(input, "four axes: [batch, channels, rows, columns]");
  }
  if (NeedsAxis(op.kind) && (op.axis < 0 || static_cast<size_t>(op.axis) >= input.size())) {
    return Fault("axis", "axis " + std::to_string(op.axis) + " of an input of shape " + ToText(input),
                 "0 to " + std::to_string(static_cast<int64_t>(input.size()) - 1));
  }
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
      return Shape{output[1], inputs[0][1] / op.groups, op.window.kernel[0], op.window.kernel[1]};
    case base::OperatorKind::kDepthwise:
      return Shape{output[1], 1, op.window.kernel[0], op.window.kernel[1]};
    case base::OperatorKind::kMatmul:
      if (inputs.size() == 1) return Shape{inputs[0].back(), output.back()};
      return std::nullopt;
    default:
      return std::nullopt;
  }
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

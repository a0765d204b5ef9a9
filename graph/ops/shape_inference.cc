#include "tessera/graph/ops/shape_inference.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "tessera/base/arithmetic.h"

namespace tessera::graph::ops {
namespace {

tl::unexpected<ShapeFault> WrongRank(const Shape& found, std::string expected) {
  return Fault("inputs", "input has shape " + ToText(found), std::move(expected));
}

tl::unexpected<ShapeFault> Disagreeing(const Shape& a, const Shape& b, std::string expected) {
  return Fault("inputs", "shapes " + ToText(a) + " and " + ToText(b) + " do not agree",
               std::move(expected));
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
      return Fault("inputs",
                   "the extents of axis " + std::to_string(axis) + " add up to more than 2^62");
    output[axis] = *extent;
  }
  return output;
}

Inferred InferElementwise(const Wanted& wanted, const std::vector<Shape>& inputs) {
  Shape output = inputs.front();
  for (const Shape& input : inputs) {
    const std::optional<Shape> together = Broadcast(output, input);
    if (!together) {
      return Disagreeing(output, input,
                         "equal extents, or 1, on every axis counted from the right");
    }
    output = *together;
  }
  if (!wanted.shape || *wanted.shape == output) return output;
  Shape with_tables = output;
  for (const Shape& table : wanted.tables) {
    if (const std::optional<Shape> together = Broadcast(with_tables, table))
      with_tables = *together;
  }
  return with_tables == *wanted.shape ? with_tables : output;
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
    return Disagreeing(first, second,
                       "a depth of " + std::to_string(first_depth) + " in the second operand");
  }
  std::optional<Shape> output =
      Broadcast(Shape(first.begin(), first.end() - 2), Shape(second.begin(), second.end() - 2));
  if (!output) return Disagreeing(first, second, "leading axes that are equal or 1");
  output->push_back(rows);
  output->push_back(columns);
  return *output;
}

Inferred InferReduce(const Operator& op, const Wanted& wanted, const Shape& input) {
  Shape output = input;
  for (const int axis : op.axes) output[static_cast<size_t>(axis)] = 1;
  if (wanted.keep_axes) return output;
  for (size_t i = op.axes.size(); i-- > 0;) output.erase(output.begin() + op.axes[i]);
  return output;
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
      return InferElementwise(wanted, inputs);
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
  if (std::optional<ShapeFault> fault = CheckAxes(op, input))
    return tl::unexpected(std::move(*fault));
  Inferred output = InferUnchecked(op, wanted, inputs);
  if (output && !IsCountable(*output)) {
    return Fault("", "output of shape " + ToText(*output) + " is too large",
                 "at most 2^56 elements");
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
      return fault(
          "an operand whose extents are those of the output, or 1, counted from the right");
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

}  // namespace tessera::graph::ops

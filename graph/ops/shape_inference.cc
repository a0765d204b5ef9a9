// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/ops/shape_inference.h"

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/definition.h"

namespace tessera::graph::ops {

tl::expected<Shape, ShapeFault> InferShape(Operator& op, const Wanted& wanted,
                                           const std::vector<Shape>& inputs) {
  const OperatorDefinition& definition = DefinitionOf(op.kind);
  if (definition.reads_feature_map && inputs.front().size() != 4)
    return WrongRank(inputs.front(), "four axes: [batch, channels, rows, columns]");
  Inferred output = definition.infer_shape(op, wanted, inputs);
  if (output && !IsCountable(*output)) {
    return Fault("", "output of shape " + ToText(*output) + " is too large",
                 "at most 2^56 elements");
  }
  return output;
}

std::optional<Shape> WeightShapeOf(const Operator& op, const std::vector<Shape>& inputs,
                                   const Shape& output) {
  const OperatorDefinition& definition = DefinitionOf(op.kind);
  if (definition.weight_shape == nullptr) return std::nullopt;
  return definition.weight_shape(op, inputs, output);
}

tl::unexpected<ShapeFault> WrongRank(const Shape& found, std::string expected) {
  return Fault("inputs", "input has shape " + ToText(found), std::move(expected));
}

tl::unexpected<ShapeFault> Disagreeing(const Shape& a, const Shape& b, std::string expected) {
  return Fault("inputs", "shapes " + ToText(a) + " and " + ToText(b) + " do not agree",
               std::move(expected));
}

tl::unexpected<ShapeFault> NotOneForEachAxis(std::string attribute, size_t found, size_t axes) {
  return Fault(std::move(attribute),
               "a list of " + std::to_string(found) + " for " + std::to_string(axes) + " axes",
               "one for each axis of the input");
}

std::optional<ShapeFault> CheckAxis(int axis, const Shape& input) {
  if (axis >= 0 && static_cast<size_t>(axis) < input.size()) return std::nullopt;
  const auto rank = static_cast<int64_t>(input.size());
  return Fault("axis", "axis " + std::to_string(axis) + " of an input of shape " + ToText(input),
               rank == 0 ? "an input with axes" : "0 to " + std::to_string(rank - 1),
               axis < 0 && axis + rank >= 0
                   ? "axes count from the first: write " + std::to_string(axis + rank)
                   : "")
      .value();
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

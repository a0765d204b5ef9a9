// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <string>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Kinds that reduce over whole axes: reduce, softmax and layer_norm.
namespace tessera::graph::ops {
namespace {

Field AxesField(Operator& op) { return AxisField(&op.axes, Single::kOne); }

std::vector<Field> NormalizationFields(Operator& op, Wanted& /*wanted*/, size_t /*operands*/) {
  return {AxesField(op)};
}

std::vector<Field> ReduceFields(Operator& op, Wanted& wanted, size_t /*operands*/) {
  return {{"function", &op.function, Presence::kRequired},
          AxesField(op),
          {"keep_axes", &wanted.keep_axes}};
}

std::optional<ShapeFault> CheckAxes(const Operator& op, const Shape& input) {
  if (op.axes.empty()) return Fault("axis", "no axis", "at least one").value();
  for (const int axis : op.axes) {
    if (std::optional<ShapeFault> fault = CheckAxis(axis, input)) return fault;
  }
  if (std::adjacent_find(op.axes.begin(), op.axes.end(), std::greater_equal<>()) == op.axes.end())
    return std::nullopt;
  return Fault("axis", "axes out of order", "ascending axes, each once").value();
}

Inferred InferNormalization(Operator& op, const Wanted& /*wanted*/,
                            const std::vector<Shape>& inputs) {
  if (auto fault = CheckAxes(op, inputs.front())) return tl::unexpected(std::move(*fault));
  return inputs.front();
}

Inferred InferReduce(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  if (auto fault = CheckAxes(op, inputs.front())) return tl::unexpected(std::move(*fault));
  Shape output = inputs.front();
  for (const int axis : op.axes) output[static_cast<size_t>(axis)] = 1;
  if (wanted.keep_axes) return output;
  for (size_t i = op.axes.size(); i-- > 0;) output.erase(output.begin() + op.axes[i]);
  return output;
}

// Reduced axes are needed whole; the output may lack them.
std::vector<AxisMap> MapsOfReduction(const OperandView& view) {
  const Shape& input = view.Input();
  const bool dropped = view.output.size() < input.size();
  std::vector<AxisMap> maps = SameAxes(input.size());
  for (const int reduced : view.op.axes) {
    const auto axis = static_cast<size_t>(reduced);
    for (size_t behind = axis; dropped && behind < maps.size(); ++behind) --maps[behind].source;
    maps[axis] = WholeAxis(input[axis]);
  }
  return maps;
}

// All of the axes that are reduced over; the output may lack them.
constexpr Reading kReadingOfReduction =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const Shape& in = view.Input();
      const std::vector<int>& axes = view.op.axes;
      size_t next = 0;
      for (size_t axis = 0; axis < in.size(); ++axis) {
        const bool reduced = std::count(axes.begin(), axes.end(), static_cast<int>(axis)) > 0;
        if (reduced) {
          need.All(axis);
        } else {
          need.Same(axis, output[next]);
        }
        if (!reduced || output.size() == in.size()) ++next;
      }
    });

}  // namespace

extern const OperatorDefinition kReduce = {
    .fields = ReduceFields,
    .restate = [](const Operator&, const Shape& input, const Shape& output,
                  Wanted& wanted) { wanted.keep_axes = output.size() == input.size(); },
    .infer_shape = InferReduce,
    .axis_maps = MapsOfReduction,
    .reading = kReadingOfReduction,
    .selects =
        [](const Operator& op) {
          return (op.function == "max" || op.function == "min") && op.activation.empty();
        },
    .sum_axis = [](const Operator& op, size_t, size_t) -> std::optional<size_t> {
      return static_cast<size_t>(op.axes.front());
    },
};

extern const OperatorDefinition kSoftmax = {
    .fields = NormalizationFields,
    .infer_shape = InferNormalization,
    .axis_maps = MapsOfReduction,
    .reading = kReadingOfReduction,
};

extern const OperatorDefinition kLayerNorm = {
    .fields = NormalizationFields,
    .infer_shape = InferNormalization,
    .axis_maps = MapsOfReduction,
    .reading = kReadingOfReduction,
};

}  // namespace tessera::graph::ops

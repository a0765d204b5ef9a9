// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <string>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// The k greatest or least elements along one axis: their values, or their indices. A network that
// uses both has two operators.
namespace tessera::graph::ops {
namespace {

constexpr std::array<std::string_view, 2> kResults = {"values", "indices"};

std::vector<Field> FieldsOfTopK(Operator& op, Wanted& /*wanted*/, size_t /*operands*/) {
  auto& [k, largest, sorted, result] = op.MakeOwn<base::TopKAttributes>();
  Field named = {"result", &result};
  named.names = kResults;
  return {AxisField(&op.axes, Single::kOne),
          {"k", &k, Presence::kRequired, 1},
          {"largest", &largest},
          {"sorted", &sorted},
          named};
}

Inferred InferTopK(Operator& op, const Wanted& /*wanted*/, const std::vector<Shape>& inputs) {
  if (op.axes.size() != 1)
    return Fault("axis", std::to_string(op.axes.size()) + " axes", "one axis");
  if (auto fault = CheckAxis(op.axes.front(), inputs.front()))
    return tl::unexpected(std::move(*fault));
  Shape output = inputs.front();
  int64_t& extent = output[static_cast<size_t>(op.axes.front())];
  const int64_t k = op.MakeOwn<base::TopKAttributes>().k;
  if (k < 1 || k > extent) {
    return Fault("k", std::to_string(k) + " of an axis of " + std::to_string(extent),
                 "1 to " + std::to_string(extent));
  }
  extent = k;
  return output;
}

std::vector<AxisMap> MapsOfTopK(const OperandView& view) {
  const auto axis = static_cast<size_t>(view.op.axes.front());
  std::vector<AxisMap> maps = SameAxes(view.Input().size());
  maps[axis] = WholeAxis(view.Input()[axis]);
  return maps;
}

// Any element of the axis may be among the k.
constexpr Reading kReadingOfTopK =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const auto searched = static_cast<size_t>(view.op.axes.front());
      for (size_t axis = 0; axis < output.size(); ++axis) {
        if (axis == searched) {
          need.All(axis);
        } else {
          need.Same(axis, output[axis]);
        }
      }
    });

std::optional<int64_t> GreatestIndexOfTopK(const Operator& op, const Shape& input) {
  if (op.Own<base::TopKAttributes>().result != kResults[1]) return std::nullopt;
  return input[static_cast<size_t>(op.axes.front())] - 1;
}

}  // namespace

extern const OperatorDefinition kTopK = {
    .fields = FieldsOfTopK,
    .infer_shape = InferTopK,
    .axis_maps = MapsOfTopK,
    .reading = kReadingOfTopK,
    .selects =
        [](const Operator& op) { return op.Own<base::TopKAttributes>().result == kResults[0]; },
    .greatest_index = GreatestIndexOfTopK,
};

}  // namespace tessera::graph::ops

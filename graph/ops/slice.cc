#include <optional>
#include <string>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Slices: every axis from a start in steps.
namespace tessera::graph::ops {
namespace {

std::vector<Field> FieldsOfSlice(Operator& op, Wanted& wanted, size_t /*operands*/) {
  return {{"starts", &op.starts, Presence::kRequired},
          {"steps", &op.steps, Presence::kOptional, -kMostElements},
          {"shape", Field::OutputShape{&wanted.shape}, Presence::kRequired}};
}

Inferred InferSlice(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
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

std::vector<AxisMap> MapsOfSlice(const OperandView& view) {
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < view.op.starts.size(); ++axis) {
    maps.push_back({AxisMap::Strided{view.op.starts[axis], view.op.steps[axis]}, axis, 1});
  }
  return maps;
}

constexpr Reading kReadingOfSlice =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const Operator& op = view.op;
      for (size_t axis = 0; axis < output.size(); ++axis) {
        need.Each(axis, output[axis],
                  [&](int64_t index, auto& add) { add(op.starts[axis] + index * op.steps[axis]); });
      }
    });

}  // namespace

extern const OperatorDefinition kSlice = {
    .fields = FieldsOfSlice,
    .infer_shape = InferSlice,
    .axis_maps = MapsOfSlice,
    .reading = kReadingOfSlice,
};

}  // namespace tessera::graph::ops

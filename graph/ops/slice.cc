// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Slices: every axis from a start in steps.
namespace tessera::graph::ops {
namespace {

std::vector<Field> FieldsOfSlice(Operator& op, Wanted& wanted, size_t /*operands*/) {
  SliceAttributes& own = op.MakeOwn<SliceAttributes>();
  return {{"starts", &own.starts, Presence::kRequired},
          {"steps", &own.steps, Presence::kOptional, -kMostElements},
          {"shape", Field::OutputShape{&wanted.shape}, Presence::kRequired}};
}

Inferred InferSlice(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  auto& [starts, steps] = op.MakeOwn<SliceAttributes>();
  if (steps.empty()) steps.assign(input.size(), 1);
  if (starts.size() != input.size())
    return NotOneForEachAxis("starts", starts.size(), input.size());
  if (steps.size() != input.size()) return NotOneForEachAxis("steps", steps.size(), input.size());
  const Shape& output = *wanted.shape;
  if (output.size() != input.size()) return NotOneForEachAxis("shape", output.size(), input.size());
  if (!IsCountable(output)) return Fault("shape", "shape " + ToText(output) + " is too large");
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const std::optional<int64_t> way = base::CheckedMul(output[axis] - 1, steps[axis]);
    const std::optional<int64_t> last = way ? base::CheckedAdd(starts[axis], *way) : std::nullopt;
    const auto inside = [&](int64_t index) { return 0 <= index && index < input[axis]; };
    if (steps[axis] == 0) return Fault("steps", "a step of 0", "any other");
    if (inside(starts[axis]) && last && inside(*last)) continue;
    return Fault("starts",
                 std::to_string(output[axis]) + " elements from " + std::to_string(starts[axis]) +
                     " in steps of " + std::to_string(steps[axis]) + " leave axis " +
                     std::to_string(axis) + " of " + std::to_string(input[axis]),
                 "elements of the input");
  }
  return output;
}

std::vector<AxisMap> MapsOfSlice(const OperandView& view) {
  const auto& [starts, steps] = view.op.Own<SliceAttributes>();
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < starts.size(); ++axis)
    maps.push_back({AxisMap::Strided{starts[axis], steps[axis]}, axis, 1});
  return maps;
}

constexpr Reading kReadingOfSlice =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const auto& own = view.op.Own<SliceAttributes>();
      for (size_t axis = 0; axis < output.size(); ++axis) {
        need.Each(axis, output[axis], [&](int64_t index, auto& add) {
          add(own.starts[axis] + index * own.steps[axis]);
        });
      }
    });

}  // namespace

extern const OperatorDefinition kSlice = {
    .fields = FieldsOfSlice,
    .infer_shape = InferSlice,
    .axis_maps = MapsOfSlice,
    .reading = kReadingOfSlice,
    .holes =
        [](const Operator& op, const Shape&, const Shape&) {
          const std::vector<int64_t>& steps = op.Own<SliceAttributes>().steps;
          const auto is_one = [](int64_t step) { return step == 1 || step == -1; };
          return std::all_of(steps.begin(), steps.end(), is_one) ? Holes::kNone : Holes::kMaybe;
        },
};

}  // namespace tessera::graph::ops

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Axes in another order.
namespace tessera::graph::ops {
namespace {

Inferred InferTranspose(Operator& op, const Wanted& /*wanted*/, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  const std::vector<int>& permutation = op.Own<TransposeAttributes>().permutation;
  std::vector<int> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool complete = sorted.size() == input.size();
  for (size_t axis = 0; complete && axis < sorted.size(); ++axis)
    complete = sorted[axis] == static_cast<int>(axis);
  if (!complete) {
    return Fault("permutation", "not a permutation of the input's axes",
                 "each of 0 to " + std::to_string(input.size() - 1) + " once");
  }
  Shape output;
  for (const int axis : permutation) output.push_back(input[static_cast<size_t>(axis)]);
  return output;
}

std::vector<AxisMap> MapsOfTranspose(const OperandView& view) {
  const std::vector<int>& permutation = view.op.Own<TransposeAttributes>().permutation;
  std::vector<AxisMap> maps = SameAxes(permutation.size());
  for (size_t axis = 0; axis < maps.size(); ++axis)
    maps[static_cast<size_t>(permutation[axis])] = SameAxis(axis);
  return maps;
}

constexpr Reading kReadingOfTranspose =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const std::vector<int>& permutation = view.op.Own<TransposeAttributes>().permutation;
      for (size_t axis = 0; axis < output.size(); ++axis)
        need.Same(static_cast<size_t>(permutation[axis]), output[axis]);
    });

}  // namespace

extern const OperatorDefinition kTranspose = {
    .fields = [](Operator& op, Wanted&, size_t) -> std::vector<Field> {
      constexpr int64_t kLastAxis = 63;
      return {{"permutation", &op.MakeOwn<TransposeAttributes>().permutation, Presence::kRequired,
               0, kLastAxis}};
    },
    .infer_shape = InferTranspose,
    .axis_maps = MapsOfTranspose,
    .reading = kReadingOfTranspose,
};

}  // namespace tessera::graph::ops

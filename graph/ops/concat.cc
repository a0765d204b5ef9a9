// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Concatenations along one axis.
namespace tessera::graph::ops {
namespace {

Inferred InferConcat(Operator& op, const Wanted& /*wanted*/, const std::vector<Shape>& inputs) {
  if (auto fault = CheckAxis(op.axis, inputs.front())) return tl::unexpected(std::move(*fault));
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

std::vector<AxisMap> MapsOfConcat(const OperandView& view) {
  const auto axis = static_cast<size_t>(view.op.axis);
  std::vector<AxisMap> maps = SameAxes(view.Input().size());
  maps[axis].rule = AxisMap::Part{view.inputs.ExtentBefore(view.operand, axis), view.Input()[axis]};
  return maps;
}

constexpr Reading kReadingOfConcat =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const auto joined = static_cast<size_t>(view.op.axis);
      const int64_t before = view.inputs.ExtentBefore(view.operand, joined);
      for (size_t axis = 0; axis < output.size(); ++axis) {
        const int64_t shift = axis == joined ? before : 0;
        // Outside the part of this operand nothing is read.
        const int64_t begin = std::max(output[axis].begin, shift);
        const int64_t end = std::min(output[axis].end, shift + view.Input()[axis]);
        need.Each(axis, {begin, std::max(begin, end)},
                  [=](int64_t index, auto& add) { add(index - shift); });
      }
    });

}  // namespace

extern const OperatorDefinition kConcat = {
    .arity = {1, kAnyNumber},
    .fields = [](Operator& op, Wanted&, size_t) -> std::vector<Field> {
      return {AxisField(&op.axis)};
    },
    .infer_shape = InferConcat,
    .axis_maps = MapsOfConcat,
    .reading = kReadingOfConcat,
};

}  // namespace tessera::graph::ops

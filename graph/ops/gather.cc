// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Gathers along one axis, by known indices.
namespace tessera::graph::ops {
namespace {

// A list of indices, or a single index, which drops the axis.
std::vector<Field> FieldsOfGather(Operator& op, Wanted& wanted, size_t /*operands*/) {
  Field indices = {"indices", &op.MakeOwn<GatherAttributes>().indices, Presence::kRequired,
                   -kMostElements};
  indices.single = Single::kOne;
  indices.is_list = &wanted.keep_axes;
  return {AxisField(&op.axis), indices};
}

Inferred InferGather(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  if (auto fault = CheckAxis(op.axis, input)) return tl::unexpected(std::move(*fault));
  const auto axis = static_cast<size_t>(op.axis);
  const std::vector<int64_t>& indices = op.Own<GatherAttributes>().indices;
  if (indices.empty()) return Fault("indices", "no indices", "at least one");
  for (const int64_t index : indices) {
    if (index >= 0 && index < input[axis]) continue;
    return Fault("indices",
                 "index " + std::to_string(index) + " of an axis of " + std::to_string(input[axis]),
                 "0 to " + std::to_string(input[axis] - 1));
  }
  Shape output = input;
  output[axis] = static_cast<int64_t>(indices.size());
  if (wanted.keep_axes) return output;
  if (indices.size() > 1)
    return Fault("keep_axes", "several indices, and no axis for them", "one index");
  output.erase(output.begin() + op.axis);
  return output;
}

std::vector<AxisMap> MapsOfGather(const OperandView& view) {
  const auto gathered = static_cast<size_t>(view.op.axis);
  std::vector<AxisMap> maps = SameAxes(view.Input().size());
  if (view.output.size() == maps.size()) {
    maps[gathered].rule = AxisMap::Listed(view.op.Own<GatherAttributes>().indices);
    return maps;
  }
  maps[gathered] = {AxisMap::Fixed{view.op.Own<GatherAttributes>().indices.front()}, 0, 0};
  for (size_t axis = gathered + 1; axis < maps.size(); ++axis) --maps[axis].source;
  return maps;
}

// There is no hole if adjacent outputs read the same index or adjacent ones.
Holes HolesOfGather(const Operator& op, const Shape& /*input*/, const Shape& /*output*/) {
  const std::vector<int64_t>& indices = op.Own<GatherAttributes>().indices;
  const auto jump = std::adjacent_find(indices.begin(), indices.end(),
                                       [](int64_t a, int64_t b) { return std::abs(a - b) > 1; });
  return jump == indices.end() ? Holes::kNone : Holes::kMaybe;
}

constexpr Reading kReadingOfGather =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const std::vector<int64_t>& indices = view.op.Own<GatherAttributes>().indices;
      const auto gathered = static_cast<size_t>(view.op.axis);
      size_t next = 0;
      for (size_t axis = 0; axis < view.Input().size(); ++axis) {
        if (axis != gathered) {
          need.Same(axis, output[next++]);
        } else if (output.size() < view.Input().size()) {
          need.Only(axis, indices.front());
        } else {
          need.Each(axis, output[next++],
                    [&](int64_t index, auto& add) { add(indices[static_cast<size_t>(index)]); });
        }
      }
    });

}  // namespace

extern const OperatorDefinition kGather = {
    .fields = FieldsOfGather,
    .restate = [](const Operator&, const Shape& input, const Shape& output,
                  Wanted& wanted) { wanted.keep_axes = output.size() == input.size(); },
    .infer_shape = InferGather,
    .axis_maps = MapsOfGather,
    .reading = kReadingOfGather,
    .holes = HolesOfGather,
};

}  // namespace tessera::graph::ops

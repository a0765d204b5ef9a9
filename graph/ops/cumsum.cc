// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Cumulative sums: each output element is the sum of all elements up to it along one axis.
//
//     input        a      b    c
//     output       a      a+b  a+b+c        exclusive    0    a  a+b
//     reverse      a+b+c  b+c  c            both         b+c  c  0
namespace tessera::graph::ops {
namespace {

std::vector<Field> FieldsOfCumsum(Operator& op, Wanted& /*wanted*/, size_t /*operands*/) {
  auto& [exclusive, reverse] = op.MakeOwn<base::CumsumAttributes>();
  return {AxisField(&op.axis), {"exclusive", &exclusive}, {"reverse", &reverse}};
}

Inferred InferCumsum(Operator& op, const Wanted& /*wanted*/, const std::vector<Shape>& inputs) {
  if (auto fault = CheckAxis(op.axis, inputs.front())) return tl::unexpected(std::move(*fault));
  return inputs.front();
}

// The numbers of the closed form are the extent of the axis, and the indices that the last sum
// leaves out.
Extent FromTheFirst(const AxisMap::OfKind::Numbers& numbers, std::span<const Extent> outputs) {
  const int64_t end = outputs.front().end - numbers[1];
  return {0, std::max<int64_t>(end, 0)};
}

Extent ToTheLast(const AxisMap::OfKind::Numbers& numbers, std::span<const Extent> outputs) {
  const int64_t begin = outputs.front().begin + numbers[1];
  return {std::min(begin, numbers[0]), numbers[0]};
}

std::vector<AxisMap> MapsOfCumsum(const OperandView& view) {
  const auto& [exclusive, reverse] = view.op.Own<base::CumsumAttributes>();
  const auto axis = static_cast<size_t>(view.op.axis);
  std::vector<AxisMap> maps = SameAxes(view.Input().size());
  maps[axis].rule = AxisMap::OfKind{.function = reverse ? ToTheLast : FromTheFirst,
                                    .numbers = {view.Input()[axis], exclusive ? 1 : 0},
                                    .may_be_empty = exclusive};
  return maps;
}

constexpr Reading kReadingOfCumsum =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const auto& own = view.op.Own<base::CumsumAttributes>();
      const auto summed = static_cast<size_t>(view.op.axis);
      for (size_t axis = 0; axis < output.size(); ++axis) {
        if (axis != summed) need.Same(axis, output[axis]);
      }
      need.Each(summed, output[summed], [&](int64_t index, auto& add) {
        if (!own.exclusive) add(index);
        if (own.reverse) {
          add.Range(index + 1, view.Input()[summed]);
        } else {
          add.Range(0, index);
        }
      });
    });

}  // namespace

extern const OperatorDefinition kCumsum = {
    .fields = FieldsOfCumsum,
    .infer_shape = InferCumsum,
    .axis_maps = MapsOfCumsum,
    .reading = kReadingOfCumsum,
};

}  // namespace tessera::graph::ops

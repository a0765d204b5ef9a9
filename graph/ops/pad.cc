// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Padding with a value, or with elements of the input.
namespace tessera::graph::ops {
namespace {

constexpr std::array<std::string_view, 4> kPadModes = {"constant", "reflect", "edge", "wrap"};

std::vector<Field> FieldsOfPad(Operator& op, Wanted& /*wanted*/, size_t /*operands*/) {
  PadAttributes& own = op.MakeOwn<PadAttributes>();
  return {{"low", &own.low}, {"high", &own.high}, {"mode", &own.mode}};
}

Inferred InferPad(Operator& op, const Wanted& /*wanted*/, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  PadAttributes& padding = op.MakeOwn<PadAttributes>();
  if (padding.low.empty()) padding.low.assign(input.size(), 0);
  if (padding.high.empty()) padding.high.assign(input.size(), 0);
  if (padding.low.size() != input.size())
    return NotOneForEachAxis("low", padding.low.size(), input.size());
  if (padding.high.size() != input.size())
    return NotOneForEachAxis("high", padding.high.size(), input.size());
  Shape output = input;
  for (size_t axis = 0; axis < input.size(); ++axis)
    output[axis] += padding.low[axis] + padding.high[axis];
  return output;
}

AxisMap PaddedAxis(const PadAttributes& padding, size_t axis, int64_t extent) {
  const int64_t low = padding.low[axis];
  if (low == 0 && padding.high[axis] == 0) return SameAxis(axis);
  if (padding.mode == PadMode::kConstant) return {AxisMap::Part{low, extent}, axis, 1};
  return {AxisMap::Padded{extent, low, padding.mode}, axis, 1};
}

std::vector<AxisMap> MapsOfPad(const OperandView& view) {
  const Shape& input = view.Input();
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < input.size(); ++axis)
    maps.push_back(PaddedAxis(view.op.Own<PadAttributes>(), axis, input[axis]));
  return maps;
}

// The index inside the operand for an index before or after it. Constant padding has no such index.
int64_t FoundInside(int64_t index, int64_t extent, PadMode mode) {
  switch (mode) {
    case PadMode::kConstant:
      break;
    case PadMode::kEdge:
      return index < 0 ? 0 : std::min(index, extent - 1);
    case PadMode::kWrap:
      return index - base::FloorDiv(index, extent) * extent;
    case PadMode::kReflect: {
      if (extent <= 1) return 0;
      const int64_t period = 2 * (extent - 1);
      const int64_t inside = index - base::FloorDiv(index, period) * period;
      return std::min(inside, period - inside);
    }
  }
  return index;
}

constexpr Reading kReadingOfPad =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const PadAttributes& padding = view.op.Own<PadAttributes>();
      for (size_t axis = 0; axis < output.size(); ++axis) {
        need.Each(axis, output[axis], [&](int64_t index, auto& add) {
          add(FoundInside(index - padding.low[axis], view.Input()[axis], padding.mode));
        });
      }
    });

}  // namespace

std::span<const std::string_view> NamesOf(PadMode /*mode*/) { return kPadModes; }

extern const OperatorDefinition kPad = {
    .fields = FieldsOfPad,
    .infer_shape = InferPad,
    .axis_maps = MapsOfPad,
    .reading = kReadingOfPad,
    .holes =
        [](const Operator& op, const Shape&, const Shape&) {
          return op.Own<PadAttributes>().mode == PadMode::kWrap ? Holes::kInParts : Holes::kNone;
        },
};

}  // namespace tessera::graph::ops

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/windows.h"

// Pools, by windows and over whole feature maps.
namespace tessera::graph::ops {
namespace {

constexpr std::array<std::string_view, 3> kPoolFunctions = {"max", "average", "lp"};

Field FunctionField(Operator& op) {
  if (op.function.empty()) op.function = kPoolFunctions[1];
  Field field = {"function", &op.function};
  field.names = kPoolFunctions;
  return field;
}

std::vector<Field> PoolFields(Operator& op, Wanted& wanted, size_t /*operands*/) {
  return WindowFields(op.window, wanted.same_pads, {FunctionField(op)},
                      {{"ceil_mode", &wanted.ceil_mode, Presence::kSparse},
                       {"size", &wanted.size, Presence::kOptional, 1}});
}

// If the extents of a pool are stated, or rounded up, the last windows (even the only one) may
// reach beyond the padding. The padding then grows until they do not, so that all of the padding is
// stored where padding is stored.
Inferred InferPool(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  Window& window = op.window;
  if (!wanted.ceil_mode && wanted.size.empty())
    return InferWindows(window, wanted.same_pads, input, input[1]);
  if (!wanted.size.empty() && wanted.size.size() != 2) {
    return Fault("size", "a size of " + std::to_string(wanted.size.size()) + " extents",
                 "[rows, columns]");
  }
  Shape output = {input[0], input[1], 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = input[axis + 2];
    if (wanted.same_pads) PadToSame(window, axis, extent);
    const int64_t reach = ReachOf(window, axis);
    const int64_t padded = extent + window.pad_low[axis] + window.pad_high[axis];
    const int64_t rest = padded - reach;
    if (rest <= -window.stride[axis]) return ReachesTooFar(axis, reach, padded);
    const int64_t least = rest < 0 ? 1 : rest / window.stride[axis] + 1;
    const int64_t most = rest < 0 ? 1 : base::CeilDiv(rest, window.stride[axis]) + 1;
    const bool begins_behind = (most - 1) * window.stride[axis] >= extent + window.pad_low[axis];
    const int64_t asked = !wanted.size.empty() ? wanted.size[axis] : begins_behind ? least : most;
    if (asked < least || asked > most) {
      return Fault("size", std::to_string(asked) + " " + std::string(kSpatialNames[axis]),
                   std::to_string(least) + " to " + std::to_string(most));
    }
    output[axis + 2] = asked;
    const int64_t last_end = (asked - 1) * window.stride[axis] + reach - window.pad_low[axis];
    window.pad_high[axis] = std::max(window.pad_high[axis], last_end - extent);
  }
  return output;
}

bool SelectsOne(const Operator& op) {
  return (op.function == "max" || op.function == "min") && op.activation.empty();
}

constexpr Reading kReadingOfPool =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      need.Same(1, output[1]);
      ReadWindows(view, output, view.op.window, Taps::kInPaddingToo, need);
    });

constexpr Reading kReadingOfGlobalPool =
    ReadingBy([](const OperandView& /*view*/, const Box& output, auto& need) {
      for (const size_t axis : {0, 1}) need.Same(axis, output[axis]);
      for (const size_t axis : {2, 3}) need.All(axis);
    });

}  // namespace

extern const OperatorDefinition kPool = {
    .reads_feature_map = true,
    .fields = PoolFields,
    .restate =
        [](const Operator&, const Shape&, const Shape& output, Wanted& wanted) {
          wanted.size = {output[2], output[3]};
        },
    .infer_shape = InferPool,
    .axis_maps =
        [](const OperandView& view) { return MapsOfWindow(view, SameAxis(1), view.op.window); },
    .reading = kReadingOfPool,
    .selects = SelectsOne,
};

extern const OperatorDefinition kGlobalPool = {
    .reads_feature_map = true,
    .fields = [](Operator& op, Wanted& wanted, size_t) -> std::vector<Field> {
      return {FunctionField(op), {"keep_axes", &wanted.keep_axes}};
    },
    .restate = [](const Operator&, const Shape&, const Shape& output,
                  Wanted& wanted) { wanted.keep_axes = output.size() == 4; },
    .infer_shape = [](Operator&, const Wanted& wanted,
                      const std::vector<Shape>& inputs) -> Inferred {
      const Shape& input = inputs.front();
      return wanted.keep_axes ? Shape{input[0], input[1], 1, 1} : Shape{input[0], input[1]};
    },
    .axis_maps = [](const OperandView& view) -> std::vector<AxisMap> {
      const Shape& input = view.Input();
      return {SameAxis(0), SameAxis(1), WholeAxis(input[2]), WholeAxis(input[3])};
    },
    .reading = kReadingOfGlobalPool,
    .selects = SelectsOne,
    .sum_axis = [](const Operator&, size_t, size_t) -> std::optional<size_t> { return 2; },
};

}  // namespace tessera::graph::ops

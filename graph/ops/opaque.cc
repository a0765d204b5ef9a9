// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/windows.h"

// Operators of unknown kinds: described operand by operand, or barriers.
namespace tessera::graph::ops {
namespace {

std::vector<Field> FieldsOfOpaque(Operator& op, Wanted& /*wanted*/, size_t operands) {
  const auto last = static_cast<int64_t>(operands) - 1;
  return {{"macs", &op.macs, Presence::kOptional, 0, base::kMaxTotal},
          {"accesses", &op.accesses, Presence::kSparse},
          {"scratch_bytes", &op.scratch_bytes, Presence::kSparse},
          {"in_place", &op.in_place, Presence::kSparse, 0, last}};
}

std::vector<AxisMap> MapsOfOpaque(const OperandView& view) {
  const Shape& input = view.Input();
  if (IsBarrier(view.op)) return WholeAxes(input);
  const OperandAccess& access = view.op.accesses[view.operand];
  switch (access.kind) {
    case ReadPattern::kFull:
      break;
    case ReadPattern::kElementwise:
      return BroadcastAxes(input, view.output);
    case ReadPattern::kWindow:
      return MapsOfWindow(view, access.every_channel ? WholeAxis(input[1]) : SameAxis(1),
                          access.window);
  }
  return WholeAxes(input);
}

// Reads as the description states. The operator itself supplies the values that a described window
// reads outside the operand.
constexpr Reading kReadingOfOpaque =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const std::vector<OperandAccess>& accesses = view.op.accesses;
      if (accesses.empty() || accesses[view.operand].kind == ReadPattern::kFull)
        return ReadEverything(view.Input(), need);
      const OperandAccess& access = accesses[view.operand];
      if (access.kind == ReadPattern::kElementwise)
        return ReadAligned(view.Input(), output, 0, need);
      ReadWindows(view, output, access.window, Taps::kInside, need);
      if (access.every_channel) {
        need.All(1);
      } else {
        need.Same(1, output[1]);
      }
    });

}  // namespace

std::optional<ShapeFault> CheckAccess(const OperandAccess& access, const Shape& operand,
                                      const Shape& output) {
  const auto fault = [&](std::string expected) {
    return Disagreeing(operand, output, std::move(expected)).value();
  };
  switch (access.kind) {
    case ReadPattern::kFull:
      return std::nullopt;
    case ReadPattern::kElementwise:
      if (Broadcast(operand, output) == output) return std::nullopt;
      return fault(
          "an operand whose extents are those of the output, or 1, counted from the right");
    case ReadPattern::kWindow:
      break;
  }
  const bool maps = operand.size() == 4 && output.size() == 4 && operand[0] == output[0];
  if (!maps) return fault("feature maps [batch, channels, rows, columns] of one batch");
  if (!access.every_channel && operand[1] != output[1])
    return fault("as many channels, or every_channel: true");
  return std::nullopt;
}

std::vector<Field> FieldsOf(OperandAccess& access, bool& same_pads) {
  return WindowFields(access.window, same_pads, {}, {{"every_channel", &access.every_channel}});
}

extern const OperatorDefinition kOpaque = {
    .arity = {0, kAnyNumber},
    .fields = FieldsOfOpaque,
    .infer_shape = [](Operator&, const Wanted&, const std::vector<Shape>& inputs) -> Inferred {
      return inputs.front();
    },
    .axis_maps = MapsOfOpaque,
    .reading = kReadingOfOpaque,
    .holes =
        [](const Operator& op, const Shape&, const Shape& output) {
          const auto has_none = [&output](const OperandAccess& access) {
            return HolesOf(access.window, output) == Holes::kNone;
          };
          return std::all_of(op.accesses.begin(), op.accesses.end(), has_none) ? Holes::kNone
                                                                               : Holes::kMaybe;
        },
};

}  // namespace tessera::graph::ops

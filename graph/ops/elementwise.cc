// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Operators on elements with the same coordinates, aligned at the right and broadcast.
namespace tessera::graph::ops {
namespace {

Inferred InferElementwise(Operator& /*op*/, const Wanted& wanted,
                          const std::vector<Shape>& inputs) {
  Shape output = inputs.front();
  for (const Shape& input : inputs) {
    const std::optional<Shape> together = Broadcast(output, input);
    if (!together) {
      return Disagreeing(output, input,
                         "equal extents, or 1, on every axis counted from the right");
    }
    output = *together;
  }
  if (!wanted.shape || *wanted.shape == output) return output;
  Shape with_tables = output;
  for (const Shape& table : wanted.tables) {
    if (const std::optional<Shape> together = Broadcast(with_tables, table))
      with_tables = *together;
  }
  return with_tables == *wanted.shape ? with_tables : output;
}

constexpr Reading kReadingOfElementwise =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      ReadAligned(view.Input(), output, 0, need);
    });

}  // namespace

extern const OperatorDefinition kElementwise = {
    .arity = {1, kAnyNumber},
    .fields = [](Operator& op, Wanted&, size_t) -> std::vector<Field> {
      return {{"function", &op.function, Presence::kRequired}};
    },
    .infer_shape = InferElementwise,
    .axis_maps = [](const OperandView& view) { return BroadcastAxes(view.Input(), view.output); },
    .reading = kReadingOfElementwise,
};

}  // namespace tessera::graph::ops

// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/reads.h"

#include <utility>

namespace tessera::graph {

ops::OperandShapes OperandShapesOf(const Graph& graph, const Operator& op) {
  std::vector<const Shape*> shapes;
  shapes.reserve(op.inputs.size());
  for (const int tensor : op.inputs) shapes.push_back(&ShapeOf(graph, tensor));
  return ops::OperandShapes(std::move(shapes));
}

ops::Box HullOfReads(const Graph& graph, const Operator& op, size_t operand,
                     const ops::Box& output) {
  return HullOfReads(graph, op, OperandShapesOf(graph, op), operand, output);
}

ops::Box HullOfReads(const Graph& graph, const Operator& op, const ops::OperandShapes& inputs,
                     size_t operand, const ops::Box& output) {
  const Shape& in = inputs[operand];
  if (IsEmpty(output)) return ops::Box(in.size());
  ops::HullNeed need(in);
  ops::DefinitionOf(op.kind).reading.hull({op, operand, inputs, ShapeOf(graph, op.outputs.front())},
                                          output, need);
  return IsEmpty(need.Take()) ? ops::Box(in.size()) : need.Take();
}

ElementReads ReadsOf(const Graph& graph, const Operator& op, size_t operand,
                     const ops::Box& output) {
  const ops::OperandShapes inputs = OperandShapesOf(graph, op);
  ops::ListNeed need(inputs[operand]);
  if (!IsEmpty(output)) {
    ops::DefinitionOf(op.kind).reading.lists(
        {op, operand, inputs, ShapeOf(graph, op.outputs.front())}, output, need);
  }
  return {std::move(need.axes), std::move(need.numbers)};
}

}  // namespace tessera::graph

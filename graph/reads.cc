#include "tessera/graph/reads.h"

#include <utility>

#include "tessera/graph/ops/definition.h"

namespace tessera::graph {

std::vector<const Shape*> OperandShapes(const Graph& graph, const Operator& op) {
  std::vector<const Shape*> shapes;
  shapes.reserve(op.inputs.size());
  for (const int tensor : op.inputs) shapes.push_back(&ShapeOf(graph, tensor));
  return shapes;
}

ops::Box HullOfReads(const Graph& graph, const Operator& op, size_t operand,
                     const ops::Box& output) {
  const std::vector<const Shape*> inputs = OperandShapes(graph, op);
  const Shape& in = *inputs[operand];
  if (IsEmpty(output)) return ops::Box(in.size());
  ops::HullNeed need(in);
  ops::DefinitionOf(op.kind).reading.hull({op, operand, inputs, ShapeOf(graph, op.outputs.front())},
                                          output, need);
  return IsEmpty(need.Take()) ? ops::Box(in.size()) : need.Take();
}

ElementReads ReadsOf(const Graph& graph, const Operator& op, size_t operand,
                     const ops::Box& output) {
  const std::vector<const Shape*> inputs = OperandShapes(graph, op);
  ops::ListNeed need(*inputs[operand]);
  if (!IsEmpty(output)) {
    ops::DefinitionOf(op.kind).reading.lists(
        {op, operand, inputs, ShapeOf(graph, op.outputs.front())}, output, need);
  }
  return {std::move(need.axes), std::move(need.numbers)};
}

}  // namespace tessera::graph

// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/execute/reads.h"

#include <algorithm>

#include "tessera/plan/verify/residency.h"

namespace tessera::plan::execute {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Shape;

namespace {

ElementSet ReadsOfConstant(const Graph& network, const Operator& op, size_t constant,
                           const Box& output) {
  const Shape& shape = ShapeOf(network, op.weights[constant]);
  ElementSet elements = AllOf(IsEmpty(output) ? EmptyOf(shape) : WholeOf(shape));
  if (IsEmpty(output)) return elements;
  if (const auto axes = verify::FilterAxesOf(network, op, constant)) {
    elements.axes[axes->constant] = AllOf({output[axes->result]}).axes.front();
  }
  return elements;
}

ElementSet ReadsOfTable(const Graph& network, const Operator& op, size_t constant,
                        int64_t table_bytes, const Box& output) {
  const auto filters = verify::FilterAxesOf(network, op, constant);
  if (!filters || IsEmpty(output)) return AllOf({{0, IsEmpty(output) ? 0 : table_bytes}});
  const int64_t each = table_bytes / ShapeOf(network, op.weights[constant])[filters->constant];
  const Range channels = output[filters->result];
  return AllOf({{channels.begin * each, channels.end * each}});
}

}  // namespace

ElementSet ReadsOfOperand(const Graph& network, const Operator& op, Part part, size_t position,
                          const Box& made, const std::optional<Range>& k_extent,
                          int64_t table_bytes) {
  if (part == Part::kAddend) return AllOf(made);
  if (part == Part::kTable) return ReadsOfTable(network, op, position, table_bytes, made);
  const bool constant = part == Part::kConstant;
  ElementSet reads = constant ? ReadsOfConstant(network, op, position, made)
                              : graph::ReadsOf(network, op, position, made);
  if (!k_extent) return reads;
  std::optional<size_t> axis;
  if (!constant) axis = verify::KAxisOfInput(network, op, position);
  if (constant && position == 0) axis = verify::KAxisOfFilters(network, op);
  if (!axis || *axis >= reads.axes.size()) return reads;
  std::erase_if(reads.axes[*axis], [&k_extent](int64_t index) {
    return index < k_extent->begin || k_extent->end <= index;
  });
  return reads;
}

bool MapsChannels(const Graph& network, const Operator& op) {
  return op.kind == OperatorKind::kDepthwise &&
         ShapeOf(network, op.inputs.front())[1] == ShapeOf(network, op.outputs.front())[1];
}

bool IsPointwise(const Graph& network, const Operator& op, size_t input) {
  const bool described =
      input < op.accesses.size() && op.accesses[input].kind == graph::ReadPattern::kElementwise;
  if (op.kind == OperatorKind::kConcat) return input == 0;
  return (op.kind == OperatorKind::kElementwise || described) &&
         ShapeOf(network, op.inputs[input]) == ShapeOf(network, op.outputs.front());
}

}  // namespace tessera::plan::execute

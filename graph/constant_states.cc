// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/constant_states.h"

#include <algorithm>

namespace tessera::graph {

bool CanBeState(const Graph& graph, const Usage& usage, int tensor) {
  const Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
  // An operand is aligned with the end of the result's shape. Tables need not be: one with a value
  // for each channel is aligned with the channels.
  const auto is_operand_of = [&](int op) {
    const Operator& reader = graph.operators[static_cast<size_t>(op)];
    if (reader.kind != base::OperatorKind::kElementwise) return false;
    const Shape& made = ShapeOf(graph, reader.outputs.front());
    return facts.shape.size() <= made.size() &&
           std::equal(facts.shape.rbegin(), facts.shape.rend(), made.rbegin(),
                      [](int64_t own, int64_t whole) { return own == 1 || own == whole; });
  };
  return facts.constant && facts.stored_bytes == 0 && !usage.consumers.empty() &&
         std::all_of(usage.consumers.begin(), usage.consumers.end(), is_operand_of);
}

Graph WithStates(const Graph& graph, std::span<const int> tensors) {
  Graph after = graph;
  const auto is_chosen = [tensors](int tensor) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  };
  for (const int tensor : tensors) {
    after.tensors[static_cast<size_t>(tensor)].constant = false;
    after.tensors[static_cast<size_t>(tensor)].state = true;
  }
  for (Operator& op : after.operators) {
    const auto moved = std::stable_partition(op.weights.begin(), op.weights.end(),
                                             [&](int weight) { return !is_chosen(weight); });
    op.inputs.insert(op.inputs.end(), moved, op.weights.end());
    op.weights.erase(moved, op.weights.end());
  }
  return after;
}

}  // namespace tessera::graph

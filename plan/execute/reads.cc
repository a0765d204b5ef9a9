#include "tessera/plan/execute/reads.h"

#include <algorithm>

namespace tessera::plan::execute {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Shape;

namespace {

// A constant that is filters: index i along its axis `constant` serves index i along axis `output`
// of the result, and no other.
struct FilterAxes {
  size_t constant = 0;
  size_t output = 0;
};

std::optional<FilterAxes> FilterAxesOf(const Graph& network, const Operator& op, size_t constant) {
  if (constant != 0) return std::nullopt;
  const Shape& filters = ShapeOf(network, op.weights.front());
  const Shape& out = ShapeOf(network, op.outputs.front());
  const bool window = op.kind == OperatorKind::kConv || op.kind == OperatorKind::kDepthwise ||
                      op.kind == OperatorKind::kTransposedConv;
  const bool columns = op.kind == OperatorKind::kMatmul && op.inputs.size() == 1;
  if (window && !filters.empty() && out.size() == 4 && filters.front() == out[1])
    return FilterAxes{0, 1};
  if (columns && !filters.empty() && !out.empty() && filters.back() == out.back()) {
    return FilterAxes{filters.size() - 1, out.size() - 1};
  }
  return std::nullopt;
}

ElementSet ReadsOfConstant(const Graph& network, const Operator& op, size_t constant,
                           const Box& output) {
  const Shape& shape = ShapeOf(network, op.weights[constant]);
  ElementSet elements = AllOf(IsEmpty(output) ? EmptyOf(shape) : WholeOf(shape));
  if (IsEmpty(output)) return elements;
  if (const auto axes = FilterAxesOf(network, op, constant)) {
    elements.axes[axes->constant] = AllOf({output[axes->output]}).axes.front();
  }
  return elements;
}

ElementSet ReadsOfTable(const Graph& network, const Operator& op, size_t constant,
                        int64_t table_bytes, const Box& output) {
  const auto filters = FilterAxesOf(network, op, constant);
  if (!filters || IsEmpty(output)) return AllOf({{0, IsEmpty(output) ? 0 : table_bytes}});
  const int64_t each = table_bytes / ShapeOf(network, op.weights[constant])[filters->constant];
  const Range channels = output[filters->output];
  return AllOf({{channels.begin * each, channels.end * each}});
}

// Where elements of the result are sums of products: the axis of the operand that runs over what is
// added up.
std::optional<size_t> KAxisOfInput(const Graph& network, const Operator& op, size_t input) {
  const size_t rank = ShapeOf(network, op.inputs[input]).size();
  if (op.kind == OperatorKind::kConv && op.groups == 1 && input == 0) return 1;
  if (op.kind != OperatorKind::kMatmul || rank < 2) return std::nullopt;
  const bool depth_last = input == 0 ? !op.transpose_first : op.transpose_second;
  return rank - (depth_last ? 1 : 2);
}

std::optional<size_t> KAxisOfConstant(const Graph& network, const Operator& op, size_t constant) {
  const size_t rank = ShapeOf(network, op.weights[constant]).size();
  if (!FilterAxesOf(network, op, constant)) return std::nullopt;
  if (op.kind == OperatorKind::kConv && op.groups == 1 && rank == 4) return 1;
  if (op.kind == OperatorKind::kMatmul && rank == 2) return 0;
  return std::nullopt;
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
  const std::optional<size_t> axis =
      constant ? KAxisOfConstant(network, op, position) : KAxisOfInput(network, op, position);
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
      input < op.accesses.size() && op.accesses[input].kind == graph::AccessKind::kElementwise;
  if (op.kind == OperatorKind::kConcat) return input == 0;
  return (op.kind == OperatorKind::kElementwise || described) &&
         ShapeOf(network, op.inputs[input]) == ShapeOf(network, op.outputs.front());
}

}  // namespace tessera::plan::execute

#include "tessera/graph/ops/region.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/axis_map.h"

namespace tessera::graph::ops {
namespace {

__extension__ using Wide = __int128;

// The cost of each output element; for a transposed conv, as if its stride were 1.
int64_t MacsPerElement(const Graph& graph, const Operator& op) {
  const auto input_shape = [&]() -> const Shape& {
    return graph.tensors[static_cast<size_t>(op.inputs.front())].shape;
  };
  const int64_t taps = op.window.kernel[0] * op.window.kernel[1];
  switch (op.kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kTransposedConv:
      return taps * (input_shape()[1] / op.groups);
    case base::OperatorKind::kDepthwise:
      return taps;
    case base::OperatorKind::kMatmul:
      return input_shape()[input_shape().size() - (op.transpose_first ? 2 : 1)];
    default:
      return 0;
  }
}

}  // namespace

Box WholeBox(const Shape& shape) {
  Box box;
  box.reserve(shape.size());
  for (const int64_t extent : shape) box.push_back({0, extent});
  return box;
}

bool IsEmpty(const Box& box) {
  return std::any_of(box.begin(), box.end(),
                     [](const Extent& extent) { return extent.Length() == 0; });
}

int64_t ElementsOf(const Box& box) {
  int64_t elements = 1;
  for (const Extent& extent : box) elements *= extent.Length();
  return elements;
}

Box Hull(const Box& a, const Box& b) {
  if (IsEmpty(a)) return b;
  if (IsEmpty(b)) return a;
  Box hull = a;
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    hull[axis].begin = std::min(a[axis].begin, b[axis].begin);
    hull[axis].end = std::max(a[axis].end, b[axis].end);
  }
  return hull;
}

Box InputRegion(const Graph& graph, const Operator& op, size_t input, const Box& output) {
  const std::vector<AxisMap> maps = AxisMapsOf(graph, op, input);
  Box region(maps.size());
  if (IsEmpty(output)) return region;
  for (size_t axis = 0; axis < maps.size(); ++axis) region[axis] = maps[axis].Apply(output);
  if (IsEmpty(region)) std::fill(region.begin(), region.end(), Extent{});
  return region;
}

int64_t MacsOf(const Graph& graph, const Operator& op, const Box& output) {
  const int64_t elements = ElementsOf(output);
  if (op.kind == base::OperatorKind::kOpaque) {
    const int64_t all =
        graph::ElementsOf(graph.tensors[static_cast<size_t>(op.outputs.front())].shape);
    return static_cast<int64_t>((Wide{op.macs.value_or(0)} * elements + all - 1) / all);
  }
  const int64_t macs = elements * MacsPerElement(graph, op);
  if (op.kind != base::OperatorKind::kTransposedConv) return macs;
  return base::CeilDiv(macs, op.window.stride[0] * op.window.stride[1]);
}

int64_t MacsOf(const Graph& graph, const Operator& op) {
  if (op.outputs.empty()) return op.macs.value_or(0);
  return MacsOf(graph, op, WholeBox(graph.tensors[static_cast<size_t>(op.outputs.front())].shape));
}

}  // namespace tessera::graph::ops

// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/regions.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/reads.h"

namespace tessera::graph {

std::vector<ops::AxisMap> AxisMapsOf(const Graph& graph, const Operator& op,
                                     const ops::OperandShapes& inputs, size_t input) {
  if (IsBarrier(op)) return ops::WholeAxes(inputs[input]);
  return ops::DefinitionOf(op.kind).axis_maps(
      {op, input, inputs, ShapeOf(graph, op.outputs.front())});
}

ops::Box InputRegion(const Graph& graph, const Operator& op, size_t input, const ops::Box& output) {
  return InputRegion(graph, op, OperandShapesOf(graph, op), input, output);
}

ops::Box InputRegion(const Graph& graph, const Operator& op, const ops::OperandShapes& inputs,
                     size_t input, const ops::Box& output) {
  const std::vector<ops::AxisMap> maps = AxisMapsOf(graph, op, inputs, input);
  ops::Box region(maps.size());
  if (IsEmpty(output)) return region;
  for (size_t axis = 0; axis < maps.size(); ++axis) region[axis] = maps[axis].Apply(output);
  if (IsEmpty(region)) std::fill(region.begin(), region.end(), ops::Extent{});
  return region;
}

int64_t MacsOf(const Graph& graph, const Operator& op, const ops::Box& output) {
  const int64_t elements = ElementsOf(output);
  if (op.kind == base::OperatorKind::kOpaque) {
    __extension__ using Wide = __int128;
    const int64_t all = ElementsOf(ShapeOf(graph, op.outputs.front()));
    return static_cast<int64_t>((Wide{op.macs.value_or(0)} * elements + all - 1) / all);
  }
  const ops::OperatorDefinition& definition = ops::DefinitionOf(op.kind);
  if (definition.products == nullptr) return 0;
  const Ratio products = definition.products(op, ShapeOf(graph, op.inputs.front()));
  return base::CeilDiv(elements * products.numerator, products.denominator);
}

int64_t MacsOf(const Graph& graph, const Operator& op) {
  if (op.outputs.empty()) return op.macs.value_or(0);
  return MacsOf(graph, op, ops::WholeBox(ShapeOf(graph, op.outputs.front())));
}

}  // namespace tessera::graph

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph_builder.h"
#include "tessera/graph/regions.h"

// The regions that single operators need of their inputs.
namespace tessera::graph {

inline constexpr ops::Extent kNothing{};

inline ops::Box RegionFor(const Graph& graph, const ops::Box& output, size_t input = 0) {
  return InputRegion(graph, graph.operators.front(), input, output);
}

// The indices of an axis of an input that the output's indices [begin, end) along the same axis
// need. The other axes are whole.
class Along {
 public:
  Along(Graph graph, size_t axis) : graph_(std::move(graph)), axis_(axis) {}

  ops::Extent operator()(int64_t begin, int64_t end, size_t input = 0) const {
    const Operator& op = graph_.operators.front();
    ops::Box output = ops::WholeBox(graph_.tensors[static_cast<size_t>(op.outputs[0])].shape);
    output[axis_] = {begin, end};
    return InputRegion(graph_, op, input, output)[axis_];
  }

  int64_t OutputExtent() const { return graph_.tensors.back().shape[axis_]; }

 private:
  Graph graph_;
  size_t axis_;
};

}  // namespace tessera::graph

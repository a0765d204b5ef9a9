// SPDX-License-Identifier: Apache-2.0

#include "dependency_oracle.h"

#include "region_oracle.h"

namespace tessera::graph {

ElementDependencies ElementDependenciesOf(const Graph& graph) {
  std::vector<std::vector<std::set<Element>>> of(graph.tensors.size());
  const auto indices_of = [&](int tensor) {
    return IndicesOf(ops::WholeBox(graph.tensors[static_cast<size_t>(tensor)].shape));
  };
  for (size_t tensor = 0; tensor < of.size(); ++tensor) {
    const Tensor& facts = graph.tensors[tensor];
    of[tensor].resize(static_cast<size_t>(ElementsOf(facts.shape)));
    if (!facts.network_input && !facts.state) continue;
    for (size_t i = 0; i < of[tensor].size(); ++i)
      of[tensor][i] = {{facts.id, static_cast<int64_t>(i)}};
  }
  for (const Operator& op : graph.operators) {
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const std::vector<Index> read = indices_of(op.inputs[input]);
      const std::vector<std::set<Element>>& from = of[static_cast<size_t>(op.inputs[input])];
      for (const int output : op.outputs) {
        const std::vector<Index> made = indices_of(output);
        for (size_t y = 0; y < made.size(); ++y) {
          for (size_t x = 0; x < read.size(); ++x) {
            if (Reads(graph, op, input, read[x], made[y]))
              of[static_cast<size_t>(output)][y].insert(from[x].begin(), from[x].end());
          }
        }
      }
    }
  }
  ElementDependencies dependencies;
  for (size_t tensor = 0; tensor < of.size(); ++tensor) {
    const Tensor& facts = graph.tensors[tensor];
    if (facts.network_output || facts.next_of >= 0) dependencies[facts.id] = of[tensor];
  }
  return dependencies;
}

}  // namespace tessera::graph

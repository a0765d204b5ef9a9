// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "tessera/graph/graph.h"

// Orders operators so that each comes after those on which it depends.
namespace tessera::graph {

struct TopologicalOrder {
  std::vector<int>
      order;  // of all nodes if there is no cycle; the next node is always the first ready one
  // otherwise the nodes of a cycle: each depends on the previous one, the first on the last
  std::vector<int> cycle;
};

// dependencies[i] are the nodes on which node i depends. A list that is already in order is not
// changed. Kahn's algorithm with a heap. Cost: O((nodes + dependencies) log nodes).
TopologicalOrder SortTopologically(const std::vector<std::vector<int>>& dependencies);

// A network may run its operators in any order in which each comes after those on which it depends.

// Returns for each operator the makers of its operands, ascending, each once.
std::vector<std::vector<int>> DependenciesOf(const Graph& graph);

// The same network in another order: operator order[i] comes i-th. Tensors keep their indices. The
// order names each operator once, after those on which it depends. Cost: a copy.
Graph Reordered(const Graph& graph, std::span<const int> order);

// The tensors in file order: inputs and states, constants, then results, operator by operator.
// Those without a maker keep their order among themselves.
std::vector<int> TensorsByMaker(const Graph& graph);

// Returns the same network with its tensors in another order: tensor tensors[i] gets the number i.
Graph Renumbered(const Graph& graph, std::span<const int> tensors);

}  // namespace tessera::graph

#pragma once

#include <span>
#include <vector>

#include "tessera/graph/graph.h"

// Orders operators so that each comes behind those it depends on.
namespace tessera::graph {

struct TopologicalOrder {
  std::vector<int>
      order;  // of all nodes, when there is no cycle: always the ready node that comes first
  std::vector<int> cycle;  // else a cycle: each depends on the one before it, the first on the last
};

// dependencies[i] are the nodes that node i depends on. A list that is in order already is kept as
// it is. Kahn's algorithm with a heap. Cost: O((nodes + dependencies) log nodes).
TopologicalOrder SortTopologically(const std::vector<std::vector<int>>& dependencies);

// A network may run its operators in any order in which each comes behind those it depends on.

// For each operator those that make what it reads, ascending, each once.
std::vector<std::vector<int>> DependenciesOf(const Graph& graph);

// The same network in another order: operator order[i] comes i-th. Tensors keep their indices. The
// order names each operator once, behind those it depends on. Cost: a copy.
Graph Reordered(const Graph& graph, std::span<const int> order);

// The tensors in the order in which files have them: first those that nobody makes, as they stand,
// then results, operator by operator.
std::vector<int> TensorsByMaker(const Graph& graph);

// The same network with its tensors in that order: tensor tensors[i] gets the number i.
Graph Renumbered(const Graph& graph, std::span<const int> tensors);

}  // namespace tessera::graph

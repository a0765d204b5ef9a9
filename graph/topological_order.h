#pragma once

#include <vector>

// Orders operators so that each comes behind those it depends on.
namespace tessera::graph {

struct TopologicalOrder {
  std::vector<int> order;  // of all nodes, when there is no cycle: always the ready node that comes first
  std::vector<int> cycle;  // else a cycle: each depends on the one before it, the first on the last
};

// dependencies[i] are the nodes that node i depends on. A list that is in order already is kept as it is.
// Kahn's algorithm with a heap. Cost: O((nodes + dependencies) log nodes).
TopologicalOrder SortTopologically(const std::vector<std::vector<int>>& dependencies);

}  // namespace tessera::graph

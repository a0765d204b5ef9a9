#include "tessera/graph/topological_order.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace tessera::graph {
namespace {

// Among nodes that could not be ordered each waits for another one: walk back along the waiting until a node
// repeats.
std::vector<int> FindCycle(const std::vector<std::vector<int>>& dependencies,
                           const std::vector<int>& waiting_for) {
  const auto stuck = [&waiting_for](int node) { return waiting_for[static_cast<size_t>(node)] > 0; };
  int node = 0;
  while (!stuck(node)) ++node;
  std::vector<int> walk;
  for (;;) {
    const auto seen = std::find(walk.begin(), walk.end(), node);
    if (seen != walk.end()) {
      std::vector<int> cycle(seen, walk.end());
      std::reverse(cycle.begin(), cycle.end());
      return cycle;
    }
    walk.push_back(node);
    const std::vector<int>& before = dependencies[static_cast<size_t>(node)];
    node = *std::find_if(before.begin(), before.end(), stuck);
  }
}

}  // namespace

TopologicalOrder SortTopologically(const std::vector<std::vector<int>>& dependencies) {
  const size_t count = dependencies.size();
  std::vector<std::vector<int>> dependents(count);
  std::vector<int> waiting_for(count, 0);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    waiting_for[i] = static_cast<int>(dependencies[i].size());
    for (const int before : dependencies[i])
      dependents[static_cast<size_t>(before)].push_back(static_cast<int>(i));
    if (waiting_for[i] == 0) ready.push(static_cast<int>(i));
  }
  TopologicalOrder result;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    result.order.push_back(node);
    for (const int after : dependents[static_cast<size_t>(node)]) {
      if (--waiting_for[static_cast<size_t>(after)] == 0) ready.push(after);
    }
  }
  if (result.order.size() < count) result.cycle = FindCycle(dependencies, waiting_for);
  return result;
}

}  // namespace tessera::graph

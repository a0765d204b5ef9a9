// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace tessera::graph {
namespace {

template <typename Items>
std::optional<int> FindById(const Items& items, std::string_view id) {
  const auto found =
      std::find_if(items.begin(), items.end(), [id](const auto& item) { return item.id == id; });
  if (found == items.end()) return std::nullopt;
  return static_cast<int>(found - items.begin());
}

// Each node that could not be ordered depends on another such node. Follows these dependencies back
// until a node repeats.
std::vector<int> FindCycle(const std::vector<std::vector<int>>& dependencies,
                           const std::vector<int>& waiting_for) {
  const auto stuck = [&waiting_for](int node) {
    return waiting_for[static_cast<size_t>(node)] > 0;
  };
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

Graph AsGiven(Graph graph) {
  for (Operator& op : graph.operators) {
    if (op.engine_chosen) op.engine.clear();
    op.engine_chosen = false;
  }
  for (Tensor& tensor : graph.tensors) DropRatio(tensor);
  return graph;
}

std::optional<int> FindOperator(const Graph& graph, std::string_view id) {
  return FindById(graph.operators, id);
}

std::optional<int> FindTensor(const Graph& graph, std::string_view id) {
  return FindById(graph.tensors, id);
}

std::vector<Usage> UsagesOf(const Graph& graph) {
  std::vector<Usage> usages(graph.tensors.size());
  const auto add_consumer = [&usages](int tensor, int consumer) {
    std::vector<int>& consumers = usages[static_cast<size_t>(tensor)].consumers;
    if (consumers.empty() || consumers.back() != consumer) consumers.push_back(consumer);
  };
  for (int i = 0; i < static_cast<int>(graph.operators.size()); ++i) {
    const Operator& op = graph.operators[static_cast<size_t>(i)];
    for (const int tensor : op.inputs) add_consumer(tensor, i);
    for (const int tensor : op.weights) add_consumer(tensor, i);
    for (const int tensor : op.outputs) usages[static_cast<size_t>(tensor)].producer = i;
  }
  return usages;
}

base::TensorRole OuterRoleOf(const Tensor& tensor) {
  if (tensor.constant) return base::TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return base::TensorRole::kState;
  if (tensor.network_input) return base::TensorRole::kNetworkInput;
  if (tensor.network_output) return base::TensorRole::kNetworkOutput;
  return base::TensorRole::kBoundary;
}

base::TensorRole RoleIn(const Graph& graph, const Usage& usage, int tensor, Interval interval) {
  const base::TensorRole outer = OuterRoleOf(graph.tensors[static_cast<size_t>(tensor)]);
  if (outer != base::TensorRole::kBoundary) return outer;
  const auto inside = [interval](int op) { return interval.first <= op && op <= interval.last; };
  const bool stays =
      inside(usage.producer) && std::all_of(usage.consumers.begin(), usage.consumers.end(), inside);
  return stays ? base::TensorRole::kFeature : outer;
}

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

std::vector<std::vector<int>> DependenciesOf(const Graph& graph) {
  const std::vector<Usage> usages = UsagesOf(graph);
  std::vector<std::vector<int>> dependencies(graph.operators.size());
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    std::vector<int>& makers = dependencies[i];
    for (const int tensor : graph.operators[i].inputs) {
      const int maker = usages[static_cast<size_t>(tensor)].producer;
      if (maker >= 0) makers.push_back(maker);
    }
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
  }
  return dependencies;
}

Graph Reordered(const Graph& graph, std::span<const int> order) {
  Graph reordered{graph.name, graph.tensors, {}, graph.annotations};
  reordered.operators.reserve(order.size());
  for (const int op : order)
    reordered.operators.push_back(graph.operators[static_cast<size_t>(op)]);
  return reordered;
}

std::vector<int> TensorsByMaker(const Graph& graph) {
  const std::vector<Usage> usages = UsagesOf(graph);
  std::vector<int> tensors;
  for (const bool constants : {false, true}) {
    for (size_t tensor = 0; tensor < usages.size(); ++tensor) {
      if (usages[tensor].producer < 0 && graph.tensors[tensor].constant == constants)
        tensors.push_back(static_cast<int>(tensor));
    }
  }
  for (const Operator& op : graph.operators)
    tensors.insert(tensors.end(), op.outputs.begin(), op.outputs.end());
  return tensors;
}

Graph Renumbered(const Graph& graph, std::span<const int> tensors) {
  Graph renumbered{graph.name, {}, graph.operators, graph.annotations};
  std::vector<int> number_of(graph.tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    number_of[static_cast<size_t>(tensors[i])] = static_cast<int>(i);
    renumbered.tensors.push_back(graph.tensors[static_cast<size_t>(tensors[i])]);
  }
  for (Tensor& tensor : renumbered.tensors) {
    if (tensor.next_of >= 0) tensor.next_of = number_of[static_cast<size_t>(tensor.next_of)];
  }
  for (Operator& op : renumbered.operators) {
    for (std::vector<int>* list : {&op.inputs, &op.weights, &op.outputs}) {
      for (int& tensor : *list) tensor = number_of[static_cast<size_t>(tensor)];
    }
  }
  return renumbered;
}

}  // namespace tessera::graph

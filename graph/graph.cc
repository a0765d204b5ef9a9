// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/graph.h"

#include <algorithm>

namespace tessera::graph {
namespace {

template <typename Items>
std::optional<int> FindById(const Items& items, std::string_view id) {
  const auto found =
      std::find_if(items.begin(), items.end(), [id](const auto& item) { return item.id == id; });
  if (found == items.end()) return std::nullopt;
  return static_cast<int>(found - items.begin());
}

}  // namespace

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

}  // namespace tessera::graph

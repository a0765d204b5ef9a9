// SPDX-License-Identifier: Apache-2.0

#include "liveness.h"

#include <algorithm>

namespace tessera::graph {
namespace {

// Constants and state have homes of their own for all program time.
bool HasOwnLife(const Tensor& tensor) { return !tensor.constant && !tensor.state; }

// Available when operator number `op` starts, and not made by it or later.
bool HeldBefore(const Tensor& tensor, const Usage& usage, int op) {
  return usage.producer >= 0 ? usage.producer < op : tensor.network_input;
}

bool NeededBehind(const Tensor& tensor, const Usage& usage, int op) {
  return tensor.network_output || (!usage.consumers.empty() && usage.consumers.back() > op);
}

template <typename Predicate>
std::vector<int> TensorsWhere(const Graph& graph, Predicate holds) {
  const std::vector<Usage> usages = UsagesOf(graph);
  std::vector<int> found;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (HasOwnLife(graph.tensors[i]) && holds(graph.tensors[i], usages[i]))
      found.push_back(static_cast<int>(i));
  }
  return found;
}

}  // namespace

std::vector<TensorLife> LivesIn(const Graph& graph, Interval interval) {
  const std::vector<Usage> usages = UsagesOf(graph);
  std::vector<TensorLife> lives;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    const Usage& usage = usages[i];
    if (!HasOwnLife(tensor)) continue;
    TensorLife life{.tensor = static_cast<int>(i)};
    const bool made = interval.first <= usage.producer && usage.producer <= interval.last;
    if (made) life.made = usage.producer - interval.first;
    for (const int reader : usage.consumers) {
      if (interval.first <= reader && reader <= interval.last)
        life.last_read = reader - interval.first;
    }
    life.leaves = NeededBehind(tensor, usage, interval.last);
    if (made || life.last_read >= 0) lives.push_back(life);
  }
  return lives;
}

std::vector<int> PassingOver(const Graph& graph, Interval interval) {
  return TensorsWhere(graph, [interval](const Tensor& tensor, const Usage& usage) {
    const bool read_inside = std::any_of(
        usage.consumers.begin(), usage.consumers.end(),
        [interval](int reader) { return interval.first <= reader && reader <= interval.last; });
    return !read_inside && HeldBefore(tensor, usage, interval.first) &&
           NeededBehind(tensor, usage, interval.last);
  });
}

std::vector<int> CrossingAt(const Graph& graph, int cut) {
  return TensorsWhere(graph, [cut](const Tensor& tensor, const Usage& usage) {
    return HeldBefore(tensor, usage, cut + 1) && NeededBehind(tensor, usage, cut);
  });
}

}  // namespace tessera::graph

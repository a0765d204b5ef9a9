#include "tessera/search/orders/precedence.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "tessera/graph/reorder.h"

namespace tessera::search {

Precedence::Precedence(const graph::Graph& graph, std::span<const graph::Interval> blocks) {
  const auto operators = static_cast<int>(graph.operators.size());
  std::vector<int> node_of;
  for (int op = 0; op < operators;) {
    graph::Interval node{op, op};
    for (const graph::Interval block : blocks) {
      if (block.first == op) node = block;
    }
    for (; op <= node.last; ++op) node_of.push_back(static_cast<int>(nodes_.size()));
    nodes_.push_back(node);
  }
  before_.resize(nodes_.size());
  behind_.resize(nodes_.size());
  const std::vector<std::vector<int>> dependencies = graph::DependenciesOf(graph);
  for (size_t op = 0; op < dependencies.size(); ++op) {
    const int node = node_of[op];
    for (const int maker : dependencies[op]) {
      const int other = node_of[static_cast<size_t>(maker)];
      if (other != node) before_[static_cast<size_t>(node)].push_back(other);
    }
  }
  for (size_t node = 0; node < before_.size(); ++node) {
    std::vector<int>& before = before_[node];
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const int other : before) behind_[static_cast<size_t>(other)].push_back(static_cast<int>(node));
  }
}

bool Precedence::IsChain() const {
  for (size_t node = 1; node < nodes_.size(); ++node) {
    const std::vector<int>& before = before_[node];
    if (before.empty() || before.back() != static_cast<int>(node) - 1) return false;
  }
  return true;
}

Order Precedence::OperatorsOf(std::span<const int> order) const {
  Order operators;
  for (const int node : order) {
    for (int op = OperatorsOf(node).first; op <= OperatorsOf(node).last; ++op) operators.push_back(op);
  }
  return operators;
}

Order Precedence::NodesOf(const Order& operators) const {
  Order order;
  for (const int op : operators) {
    const auto node =
        std::lower_bound(nodes_.begin(), nodes_.end(), op,
                         [](const graph::Interval& each, int wanted) { return each.last < wanted; });
    if (node->first == op) order.push_back(static_cast<int>(node - nodes_.begin()));
  }
  return order;
}

Order Precedence::NearestTo(std::span<const int64_t> keys) const {
  using Entry = std::pair<int64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<size_t> waiting_for;
  const auto add_if_ready = [&](int node) {
    const auto at = static_cast<size_t>(node);
    if (waiting_for[at] == 0) ready.emplace(keys[at], node);
  };
  for (const std::vector<int>& before : before_) waiting_for.push_back(before.size());
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) add_if_ready(node);
  Order order;
  while (!ready.empty()) {
    const int node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (const int after : Behind(node)) {
      --waiting_for[static_cast<size_t>(after)];
      add_if_ready(after);
    }
  }
  return order;
}

}  // namespace tessera::search

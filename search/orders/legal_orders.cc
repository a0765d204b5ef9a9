// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/orders/legal_orders.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "tessera/graph/graph.h"

namespace tessera::search::orders {

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
  after_.resize(nodes_.size());
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
    for (const int other : before)
      after_[static_cast<size_t>(other)].push_back(static_cast<int>(node));
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
    for (int op = OperatorsOf(node).first; op <= OperatorsOf(node).last; ++op)
      operators.push_back(op);
  }
  return operators;
}

Order Precedence::NodesOf(const Order& operators) const {
  Order order;
  for (const int op : operators) {
    const auto node = std::lower_bound(
        nodes_.begin(), nodes_.end(), op,
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
    for (const int after : After(node)) {
      --waiting_for[static_cast<size_t>(after)];
      add_if_ready(after);
    }
  }
  return order;
}

namespace {

class Enumeration {
 public:
  Enumeration(const Precedence& precedence, size_t most, const base::Stop& stop)
      : precedence_(precedence),
        most_(most),
        stop_(stop),
        nodes_(static_cast<int>(precedence.Count())) {
    for (int node = 0; node < nodes_; ++node)
      waiting_for_.push_back(precedence.Before(node).size());
    placed_.resize(precedence.Count());
  }

  std::optional<std::vector<Order>> Run() {
    if (!Extend()) return std::nullopt;
    return std::move(orders_);
  }

 private:
  // Adds all orders that begin with `order_`. Returns false if there are too many, or after a stop.
  bool Extend() {
    if (stop_.Requested()) return false;
    if (order_.size() == precedence_.Count()) {
      orders_.push_back(order_);
      return orders_.size() <= most_;
    }
    for (int node = 0; node < nodes_; ++node) {
      const auto at = static_cast<size_t>(node);
      if (placed_[at] || waiting_for_[at] > 0) continue;
      Place(node);
      if (!Extend()) return false;
      TakeBack(node);
    }
    return true;
  }

  void Place(int node) {
    placed_[static_cast<size_t>(node)] = true;
    order_.push_back(node);
    for (const int after : precedence_.After(node)) --waiting_for_[static_cast<size_t>(after)];
  }

  void TakeBack(int node) {
    for (const int after : precedence_.After(node)) ++waiting_for_[static_cast<size_t>(after)];
    order_.pop_back();
    placed_[static_cast<size_t>(node)] = false;
  }

  const Precedence& precedence_;
  size_t most_;
  const base::Stop& stop_;
  int nodes_;
  std::vector<size_t> waiting_for_;
  std::vector<bool> placed_;
  Order order_;
  std::vector<Order> orders_;
};

}  // namespace

std::optional<std::vector<Order>> FindEveryOrder(const Precedence& precedence, size_t most,
                                                 const base::Stop& stop) {
  return Enumeration(precedence, most, stop).Run();
}

namespace {

// Nodes [begin, middle) and [middle, end) of an order change places.
struct Swap {
  int begin = 0;
  int middle = 0;
  int end = 0;
};

std::vector<Swap> FindSwaps(const Precedence& precedence, const Order& order, int longest) {
  const auto nodes = static_cast<int>(order.size());
  const auto needs = [&](int behind, int before) {
    const std::vector<int>& all = precedence.Before(order[static_cast<size_t>(behind)]);
    return std::binary_search(all.begin(), all.end(), order[static_cast<size_t>(before)]);
  };
  std::vector<Swap> swaps;
  for (int middle = 1; middle < nodes; ++middle) {
    // No end beyond it is legal for a longer run before the middle.
    int first_end = std::min(nodes, middle + longest);
    for (int begin = middle - 1; begin >= std::max(0, middle - longest + 1); --begin) {
      for (int end = middle + 1; end <= std::min(first_end, begin + longest); ++end) {
        if (needs(end - 1, begin)) {
          first_end = end - 1;
          break;
        }
        swaps.push_back({begin, middle, end});
      }
    }
  }
  std::stable_sort(swaps.begin(), swaps.end(), [](const Swap& a, const Swap& b) {
    return std::tuple(a.end - a.begin, a.begin) < std::tuple(b.end - b.begin, b.begin);
  });
  return swaps;
}

}  // namespace

std::vector<Order> FindSwapped(const Precedence& precedence, const Order& order, int longest,
                               size_t most) {
  std::vector<Order> orders;
  std::vector<std::vector<bool>> touched;  // parallel: which places are swapped
  for (const Swap& swap : FindSwaps(precedence, order, longest)) {
    size_t at = 0;
    const auto is_free = [&](const std::vector<bool>& places) {
      return std::none_of(places.begin() + swap.begin, places.begin() + swap.end,
                          [](bool is) { return is; });
    };
    while (at < orders.size() && !is_free(touched[at])) ++at;
    if (at == most) continue;
    if (at == orders.size()) {
      orders.push_back(order);
      touched.emplace_back(order.size());
    }
    const auto nodes = orders[at].begin();
    std::rotate(nodes + swap.begin, nodes + swap.middle, nodes + swap.end);
    std::fill(touched[at].begin() + swap.begin, touched[at].begin() + swap.end, true);
  }
  return orders;
}

}  // namespace tessera::search::orders

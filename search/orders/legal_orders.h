#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"

// Which operators must come before which.
namespace tessera::search::orders {

// Operators of a network, each behind those it depends on.
using Order = std::vector<int>;

// What orders are made of: nodes, each an operator, or a block of operators that stay neighbours.
// Nodes are numbered as the network has them, so that 0, 1, 2, ... is the order that it is in.
//
//     operators  0 --> 1 --> 2 --> 5         with the block 1..2 four nodes: {0} {1, 2} {3} {4} {5}; a block of neighbours
//                '---> 3 --> 4 ----'         is never needed by what it needs, so there is always an order
//
// Orders here are of nodes; OperatorsOf has them in operators.
class Precedence {
 public:
  // Blocks are disjoint and ascend. Refers to nothing.
  explicit Precedence(const graph::Graph& graph, std::span<const graph::Interval> blocks = {});

  size_t Count() const { return nodes_.size(); }
  graph::Interval OperatorsOf(int node) const { return nodes_[static_cast<size_t>(node)]; }
  const std::vector<int>& Before(int node) const {
    return before_[static_cast<size_t>(node)];
  }  // ascending
  const std::vector<int>& Behind(int node) const { return behind_[static_cast<size_t>(node)]; }

  // Whether there is no order but the one given.
  bool IsChain() const;

  Order OperatorsOf(std::span<const int> order) const;
  Order NodesOf(const Order& operators) const;  // the other way round, where blocks are together

  // The order nearest to that of the keys, one for each node: always the ready node with the least
  // key, of equals the first.
  Order NearestTo(std::span<const int64_t> keys) const;

 private:
  std::vector<graph::Interval> nodes_;
  std::vector<std::vector<int>> before_;
  std::vector<std::vector<int>> behind_;
};

// All orders of the nodes, in lexicographic order, so that the one given comes first; nullopt where
// there are more than `most`, or the stop comes first. Cost: nodes^2 for each of them.
std::optional<std::vector<Order>> FindEveryOrder(const Precedence& precedence, size_t most,
                                                 const base::Stop& stop);

// The neighbours of an order: two runs of nodes that follow one another change places where no node
// of the one needs one of the other.
//
//     order    0 1 2 | 3 4 | 5 6      1 2 before 3 4, or behind them; so an operator moves within its range, a branch before
//     swapped  0 | 3 4 | 1 2 | 5 6    another one, or a part of it. Each cut of two chains side by side lies on some neighbour.
//
// Swaps that touch different nodes do not mind each other, so many of them are made in one order at
// a time: a search that may pass from order to order wherever these meet still has each for itself.

// Orders that between them make every legal swap of at most `longest` nodes around this order, the
// shortest first. At most `most` orders. Cost: for each node longest^2 looks at what it needs.
std::vector<Order> FindSwapped(const Precedence& precedence, const Order& order, int longest,
                               size_t most);

}  // namespace tessera::search::orders

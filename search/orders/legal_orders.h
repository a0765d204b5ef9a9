// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"

// Dependencies between operators, and the orders that respect them.
namespace tessera::search::orders {

// Operators of a network, each after those it depends on.
using Order = std::vector<int>;

// The elements of orders: nodes, each an operator or a block of operators that stay adjacent. Nodes
// are numbered in the order of the network, so 0, 1, 2, ... is the current order.
//
//     operators  0 --> 1 --> 2 --> 5     with the block 1..2 the nodes are {0} {1, 2} {3} {4} {5};
//                '---> 3 --> 4 ----'     a block of adjacent operators never depends on a node that
//                                        depends on it, so an order always exists
//
// The orders in this header consist of nodes; OperatorsOf converts them to operators.
class Precedence {
 public:
  // Blocks are disjoint and ascend. The object keeps no references.
  explicit Precedence(const graph::Graph& graph, std::span<const graph::Interval> blocks = {});

  size_t Count() const { return nodes_.size(); }
  graph::Interval OperatorsOf(int node) const { return nodes_[static_cast<size_t>(node)]; }
  const std::vector<int>& Before(int node) const {
    return before_[static_cast<size_t>(node)];
  }  // ascending
  const std::vector<int>& After(int node) const { return after_[static_cast<size_t>(node)]; }

  // Returns whether the current order is the only one.
  bool IsChain() const;

  Order OperatorsOf(std::span<const int> order) const;
  // The inverse of OperatorsOf; blocks must be contiguous in `operators`.
  Order NodesOf(const Order& operators) const;

  // Returns the order that always continues with the ready node of the least key; among equals, the
  // first. `keys` contains one key for each node.
  Order NearestTo(std::span<const int64_t> keys) const;

 private:
  std::vector<graph::Interval> nodes_;
  std::vector<std::vector<int>> before_;
  std::vector<std::vector<int>> after_;
};

// Returns all orders of the nodes, in lexicographic order, so the current order comes first.
// Returns nullopt if there are more than `most`, or after a stop. Cost: nodes^2 for each order.
std::optional<std::vector<Order>> FindEveryOrder(const Precedence& precedence, size_t most,
                                                 const base::Stop& stop);

// Returns orders that together contain the legal swaps of at most `longest` nodes around `order`,
// the shortest swaps first. Cost: for each node, longest^2 tests of its dependencies.
//
// A neighbour of an order exchanges two adjacent runs of nodes, where no node of one run needs a
// node of the other.
//
//     order    0 1 2 | 3 4 | 5 6     1 2 before 3 4, or after them: so an operator moves within its
//     swapped  0 | 3 4 | 1 2 | 5 6   range, or a branch or a part of it moves before another one.
//                                    Every cut of two parallel chains occurs in some neighbour.
//
// Swaps of different nodes are independent, so one order contains many of them. A search that may
// change from order to order where these meet can still use each swap separately.
std::vector<Order> FindSwapped(const Precedence& precedence, const Order& order, int longest,
                               size_t most);

}  // namespace tessera::search::orders

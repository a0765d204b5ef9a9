#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"

// Which operators must come before which.
namespace tessera::search {

// Operators of a network, each behind those it depends on.
using Order = std::vector<int>;

// What orders are made of: nodes, each an operator, or a block of operators that stay neighbours. Nodes are numbered as the network
// has them, so that 0, 1, 2, ... is the order that it is in.
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
  const std::vector<int>& Before(int node) const { return before_[static_cast<size_t>(node)]; }  // ascending
  const std::vector<int>& Behind(int node) const { return behind_[static_cast<size_t>(node)]; }

  // Whether there is no order but the one given.
  bool IsChain() const;

  Order OperatorsOf(std::span<const int> order) const;
  Order NodesOf(const Order& operators) const;  // the other way round, where blocks are together

  // The order nearest to that of the keys, one for each node: always the ready node with the least key, of equals the first.
  Order NearestTo(std::span<const int64_t> keys) const;

 private:
  std::vector<graph::Interval> nodes_;
  std::vector<std::vector<int>> before_;
  std::vector<std::vector<int>> behind_;
};

}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/search/orders/legal_orders.h"

namespace tessera::search::orders {

// The bytes that the results of nodes occupy from creation to last use if every result is held
// whole. This is the criterion for orders that are computed without a search for subgraphs. The
// object keeps no references.
class LiveBytes {
 public:
  // `bytes` contains the size of each tensor of the network. Constants do not count.
  LiveBytes(const graph::Graph& graph, const Precedence& precedence,
            std::span<const int64_t> bytes);

  // Bytes that exist before any node runs: network inputs and state.
  int64_t AtStart() const { return at_start_; }
  int64_t MadeBy(int node) const { return made_[static_cast<size_t>(node)]; }

  // Bytes that no node needs any more after this node, where is_done(other) states which other
  // nodes have run. Results of the network are always needed.
  template <typename IsDone>
  int64_t FreedBy(int node, IsDone is_done) const {
    int64_t freed = 0;
    for (const int tensor : touched_[static_cast<size_t>(node)]) {
      bool needed = false;
      for (const int reader : readers_[static_cast<size_t>(tensor)])
        needed = needed || (reader != node && !is_done(reader));
      if (!needed) freed += bytes_[static_cast<size_t>(tensor)];
    }
    return freed;
  }

  // The maximum of the live bytes while the nodes run in this order.
  int64_t PeakOf(std::span<const int> order) const;

 private:
  std::vector<int64_t> bytes_;             // by tensor
  std::vector<std::vector<int>> readers_;  // by tensor: nodes
  // by node: the tensors that it reads or makes and that may be freed
  std::vector<std::vector<int>> touched_;
  std::vector<int64_t> made_;  // by node
  int64_t at_start_ = 0;
};

// The measure that FindLeastLiveOrder minimises.
enum class LiveGoal : uint8_t {
  kPeak,  // the least peak; among paths to one cut with equal peaks, the least sum
  kSum,   // the least sum over all nodes; among those, the least peak
};

inline constexpr size_t kUsualWidth = 64;

// Returns the order with the fewest live bytes; nullopt after a stop.
//
// The live bytes after some nodes have run depend on the set of these nodes, not on their order. So
// of all orders of one set, the best one represents all (Held, Karp 1962; for memory Ahn et al.
// 2020, "SERENITY"). The best order is a shortest path through the sets of nodes that are closed
// under dependencies: the cuts.
//
//     a --> b --> d          {} - {a} - {a,b} -- {a,b,c} - {a,b,c,d}
//      '--> c ---'                   '- {a,c} --'
//
// All cuts of one size are made before the next size. If there are more than `width`, the best ones
// are kept. Where a network is narrow, every order passes through one cut, which divides the
// problem automatically. The result is exact if no size has more than `width` cuts. There are
// polynomial algorithms for series-parallel networks (Liu 1987); they do not support skip
// connections, so this search replaces them. Cost: at most nodes^2 * width.
std::optional<Order> FindLeastLiveOrder(const Precedence& precedence, const LiveBytes& live,
                                        LiveGoal goal, const base::Stop& stop,
                                        size_t width = kUsualWidth);

// The operand of a node that a depth-first walk visits first.
enum class OperandOrder : uint8_t {
  kFirst,  // the first in the list of operands
  kLast,
  // The operand whose subtree needs the most bytes beyond those that it leaves, with results held
  // whole: the register allocation of Sethi and Ullman (1970), which is optimal if no result is
  // read twice.
  kHungriest
};

// Returns the order of a depth-first walk: each node comes after its dependencies, and those of one
// operand stay together, so one branch follows another. Cost: linear, except for sorting.
Order WalkDepthFirst(const Precedence& precedence, const LiveBytes& live, OperandOrder turn);

// The distance that orders a breadth-first walk: the longest path from the first nodes, or to the
// last.
enum class Pace : uint8_t { kEarliest, kLatest };

// Returns an order in which all branches advance in parallel. Cost: linear, except for sorting.
Order WalkBreadthFirst(const Precedence& precedence, Pace pace);

}  // namespace tessera::search::orders

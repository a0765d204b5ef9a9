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

// What the results of nodes occupy from their making to their last use if every one is held whole:
// the yardstick of orders that are made without a search for subgraphs. Refers to the precedence.
class LiveBytes {
 public:
  // `bytes`: of each tensor of the network; those of constants do not count.
  LiveBytes(const graph::Graph& graph, const Precedence& precedence,
            std::span<const int64_t> bytes);

  // Of what is there before anything ran: network inputs and state.
  int64_t AtStart() const { return at_start_; }
  int64_t MadeBy(int node) const { return made_[static_cast<size_t>(node)]; }

  // Of what nobody needs any more once the node has run, where is_done(other) says which other
  // nodes have. Results of the network are needed for ever.
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

  // The most at any time while the nodes run in this order.
  int64_t PeakOf(std::span<const int> order) const;

 private:
  std::vector<int64_t> bytes_;             // by tensor
  std::vector<std::vector<int>> readers_;  // by tensor: nodes
  std::vector<std::vector<int>> touched_;  // by node: what it reads or makes that may be dropped
  std::vector<int64_t> made_;              // by node
  int64_t at_start_ = 0;
};

// The order with the fewest bytes alive.
//
// What is alive after some nodes have run depends on which they are, not on their order. So of all
// orders of the same nodes the best one may stand for all (Held, Karp 1962; for memory Ahn et al.
// 2020, "SERENITY"), and the best order is a shortest path through the sets of nodes that are
// closed under what they need: the cuts.
//
//     a --> b --> d          {} - {a} - {a,b} -- {a,b,c} - {a,b,c,d}
//      '--> c ---'                   '- {a,c} --'
//
// All cuts of one size are made before the next size; where they are more than `width`, the best
// stay. Where a network is narrow, every order passes through one cut, which parts the problem by
// itself. Exact where no size has more cuts than that; for series-parallel networks there are
// polynomial algorithms (Liu 1987), which this replaces: they take no skips. Cost: nodes^2 * width
// at most.

enum class LiveGoal : uint8_t {
  kPeak,  // the least peak; of ways to one cut whose peaks are equal, the one of less sum
  kSum,   // the least sum over all nodes, of those the least peak
};

inline constexpr size_t kUsualWidth = 64;

// nullopt where the stop came first.
std::optional<Order> FindLeastLiveOrder(const Precedence& precedence, const LiveBytes& live,
                                        LiveGoal goal, const base::Stop& stop,
                                        size_t width = kUsualWidth);

// Orders that a walk through the network gives. Cost: linear, but for sorting.

// Which operand of a node a depth-first walk goes to first.
enum class OperandOrder : uint8_t {
  kFirst,  // the one that comes first
  kLast,
  // The one whose walk needs most beyond what it leaves, results held whole: the register
  // allocation of Sethi and Ullman (1970), least where nothing is read twice.
  kHungriest
};

// Each node behind all that it needs, those of one operand together: one branch after the other.
Order WalkDepthFirst(const Precedence& precedence, const LiveBytes& live, OperandOrder turn);

// All branches side by side: by the most nodes that lie on a way from the first nodes, or to the
// last.
enum class Pace : uint8_t { kEarliest, kLatest };
Order WalkBreadthFirst(const Precedence& precedence, Pace pace);

}  // namespace tessera::search::orders

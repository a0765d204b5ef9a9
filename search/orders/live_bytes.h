#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/search/orders/precedence.h"

namespace tessera::search {

// What the results of nodes occupy from their making to their last use if every one is held whole: the yardstick of orders that
// are made without a search for subgraphs. Refers to the precedence.
class LiveBytes {
 public:
  // `bytes`: of each tensor of the network; those of constants do not count.
  LiveBytes(const graph::Graph& graph, const Precedence& precedence, std::span<const int64_t> bytes);

  // Of what is there before anything ran: network inputs and state.
  int64_t AtStart() const { return at_start_; }
  int64_t MadeBy(int node) const { return made_[static_cast<size_t>(node)]; }

  // Of what nobody needs any more once the node has run, where is_done(other) says which other nodes have. Results of the network
  // are needed for ever.
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

}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// The bytes of tensors, constants and state outside the tile memory, all memories together
// (bytes_at_homes.cc).
class BytesAtHomes {
 public:
  BytesAtHomes(const graph::Graph& graph, const hw_profiles::Profile& profile);

  // Returns the bytes while each of these subgraphs runs. The choices cover the network in
  // sequence. Cost: the sum over all tensors of the number of subgraphs for which the tensor stays.
  std::vector<problem::Bytes> DuringEach(std::span<const SubgraphChoice> choices) const;

  // Returns a lower bound of the sum of the peaks of all memories while one subgraph runs, for
  // every placement. `kept` is as for HomeCapacity. Cost: linear in tensors.
  problem::Bytes LeastPeak(graph::Interval interval, const std::vector<int>& kept) const;

  // Returns such a bound that holds for every partition.
  problem::Bytes LeastPeak() const;

 private:
  // A tensor while operators [first, last] run.
  struct Stay {
    int tensor = 0;
    size_t memory = 0;
    problem::Bytes bytes = 0;
    problem::Bytes rounded = 0;  // up to where the next tensor may begin
    int first = 0;
    int last = 0;
    bool is_boundary = false;  // it is only present if one of them is in another subgraph
    bool at_begin = false;     // whole when the program begins
    bool at_end = false;       // whole when it ends
  };
  class Stack;

  std::vector<Stay> stays_;  // by tensor
  size_t memories_ = 0;
};

}  // namespace tessera::encoder::program

#pragma once

#include <optional>
#include <vector>

#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// Groups of buffers whose offsets differ by fixed distances: buffers that are colocated, or
// adjacent with an unaligned second buffer, directly or through others.
struct Ties {
  std::vector<int> group;       // of each buffer: the first buffer of its group
  std::vector<Bound> distance;  // its offset minus that of the group's first buffer, in units
  bool contradict = false;      // no placement satisfies them
};

// For the current sizes. Cost: O(buffers + differences) and, for each group, the square of the
// number of different alignments.
Ties FindTies(const Packing& packing, const Axis& axis);

// Searches for cycles of orders and ties that require a buffer to lie above itself. Considers the
// buffers whose least offsets rose since change `start` of the trail, or all. If it finds a cycle,
// the orders become the conflict of the trail, and the result is false. Cost: O(buffers * orders
// and ties among them) in the worst case.
bool RefuteCycle(const Packing& packing, const Axis& axis, std::optional<int> start);

}  // namespace tessera::search::engines::lazy

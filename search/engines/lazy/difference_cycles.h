#pragma once

#include <optional>
#include <vector>

#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// Groups of buffers whose offsets differ by fixed distances: those that are colocated, or adjacent
// where the second is not aligned, directly or through others.
struct Ties {
  std::vector<int> group;       // of each buffer: the first buffer of its group
  std::vector<Bound> distance;  // its offset less that of the group's first buffer, in units
  bool contradict = false;      // no placement keeps them
};

// Under the sizes in force. Cost: O(buffers + differences) and, for each group, the square of the
// number of different alignments.
Ties FindTies(const Packing& packing, const Axis& axis);

// Looks for buffers that orders and ties ask to lie above themselves, among those whose least
// offsets rose since the change numbered `start` of the trail, or among all. Where it finds some,
// the orders are the trail's conflict, and it gives false. Cost: O(buffers * orders and ties among
// them) at worst.
bool RefuteCycle(const Packing& packing, const Axis& axis, std::optional<int> start);

}  // namespace tessera::search::engines::lazy

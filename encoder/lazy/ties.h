#pragma once

#include <vector>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

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

}  // namespace tessera::encoder::lazy

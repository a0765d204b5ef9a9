#pragma once

#include <string>
#include <vector>

#include "tessera/encoder/lazy/literal.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::lazy {

// Groups of buffers whose offsets differ by fixed distances, because they are colocated with each other directly or
// through others.
struct Ties {
  std::vector<int> group;          // of each buffer: the first buffer of its group
  std::vector<Bound> distance;     // its offset less that of the group's first buffer, in units
  std::string contradiction = "";  // why no placement keeps them, in words; else empty
};

// `alignment` is that of each buffer, in units of `granule` bytes. Cost: O(buffers + relations) and, for each group,
// the square of the number of different alignments.
Ties FindTies(const problem::Problem& problem, const std::vector<Bound>& alignment, problem::Bytes granule);

}  // namespace tessera::encoder::lazy

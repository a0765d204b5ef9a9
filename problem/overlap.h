#pragma once

#include <cstddef>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem {

// Two buffers of one memory that live at `step` (the first such step) and share the bytes `shared`; first <
// second.
struct Overlap {
  size_t first = 0;
  size_t second = 0;
  Step step = 0;
  AddressRange shared;
};

// The pairs of buffers that share a byte at a step, each pair once, except those that a kColocate or
// kExclusive relation names; at most `most` of them. `offsets` is parallel to problem.buffers, and offset +
// size does not overflow. Which pairs are found does not depend on the order of the buffers unless `most`
// cuts the list. Cost: O(n log n + n k), where n counts lifespans and k the buffers that overlap another at
// one step.
std::vector<Overlap> FindOverlaps(const Problem& problem, const std::vector<Bytes>& offsets, size_t most);

}  // namespace tessera::problem

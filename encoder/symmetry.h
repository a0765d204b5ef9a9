#pragma once

#include <vector>

#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// Groups of two and more buffers, ascending by hint and index, that are alike in everything, on every rung: any solution can
// exchange the places of two of a group, so there is one in which each lies below the next of its group. `ladder`
// may be null. Cost: O(n log n) comparisons of buffers.
std::vector<std::vector<int>> FindInterchangeable(const problem::Problem& problem,
                                                  const problem::Ladder* ladder);

}  // namespace tessera::encoder

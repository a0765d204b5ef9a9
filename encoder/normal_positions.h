#pragma once

#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/demands.h"
#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// For each buffer the offsets, in granules and ascending, of which one suffices: if the Problem has a solution on a
// rung, then it has one in which every buffer lies at an offset of its list. An empty list says nothing about its
// buffer: in its memory some buffer has too many positions, or must not be moved. `ceilings` are the greatest capacities
// asked about, in bytes, for each memory; `ladder` may be null.
//
// A list is also empty where too much work came first, or the stop. Cost: for each rung, at most a
// hundred positions a buffer times the number of buffers that live together, and in all at most a
// few million steps for each memory.
std::vector<std::vector<problem::Bytes>> FindNormalPositions(const problem::Problem& problem,
                                                             const problem::Ladder* ladder,
                                                             const Demands& demands,
                                                             const std::vector<problem::Bytes>& ceilings,
                                                             const base::Stop& stop);

}  // namespace tessera::encoder

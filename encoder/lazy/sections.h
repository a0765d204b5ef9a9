#pragma once

#include <functional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::lazy {

// Sets of buffers of one memory that pairwise conflict and live at one step, in the order of their
// steps: every such pair is in one of them. Each is a maximal set of buffers alive together or,
// where exclusive or colocated pairs break that up, one of the maximal cliques that cover it.
// Members ascend. At the stop some are missing. Cost: O(steps at which a buffer begins to live
// times buffers alive), and O(members squared) for each clique.
std::vector<std::vector<int>> FindSections(const problem::Problem& problem, int memory,
                                           const std::function<bool(int, int)>& conflict,
                                           const base::Stop& stop);

}  // namespace tessera::encoder::lazy

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::search::allocate {

// Sets of buffers of the memory that pairwise live together or are separate. Each is a stack: its
// members lie one above the other, although no step need have all of them. Members ascend. Empty
// without separate buffers, or if the memory has more than 4 096 buffers. Sizes count in multiples
// of `granularity`.
//
// A stack of the most bytes is a clique of maximum weight, which is NP-hard to find. Around each
// large buffer with a relation two are grown: with the largest possible buffer next, and with the
// one next that leaves the most bytes to choose from. Stacks without a separated pair add little to
// the load of a section. Cost: the pairs that live together, and for each of at most 256 seeds and
// each member 64 lists of buffers, of which 30 million entries at most are visited.
std::vector<std::vector<int>> FindSeparatedStacks(const problem::Problem& problem, int memory,
                                                  problem::Bytes granularity);

}  // namespace tessera::search::allocate

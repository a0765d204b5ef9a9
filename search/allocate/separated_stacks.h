// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"

namespace tessera::search::allocate {

// Returns sets of buffers of the memory that pairwise live together or are separate. Each set is a
// stack: its members lie one above another, although they need not all live at one step. Members
// ascend. The result is empty without separate buffers, or if the memory has more than 4 096
// buffers. Sizes count in multiples of `granularity`. `known` is a load that need not be proven.
//
// A stack with the most bytes is a clique of maximum weight, which is NP-hard to find. So two
// stacks are grown around each large buffer with a relation: one always adds the largest possible
// buffer, the other the buffer that leaves the most bytes to choose from. Stacks without a separate
// pair add little to the load of a section. Then a search over all stacks (heaviest_stack.h) looks
// for the heaviest. If it finds one above `known` and above the grown ones, that is the last of the
// result. If neither its limit nor the stop (may be nullptr) ends it, no stack is heavier than the
// heaviest of the result, or than `known`.
//
// Cost: the pairs that live together; for each of at most 256 seeds and each member, 64 lists of
// buffers, of which at most 30 million entries are visited; and the limit of the search.
std::vector<std::vector<int>> FindSeparatedStacks(const problem::Problem& problem, int memory,
                                                  problem::Bytes granularity,
                                                  problem::Bytes known = 0,
                                                  const base::Stop* stop = nullptr);

}  // namespace tessera::search::allocate

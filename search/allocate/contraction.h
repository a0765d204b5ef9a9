// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::search::allocate {

// A Problem in which buffers that must lie on the same bytes are one buffer.
struct Contraction {
  problem::Problem problem;
  // The candidates, with the sizes of the buffers of `problem`; empty without a ladder.
  problem::Ladder ladder;
  std::vector<int> image;  // of each original buffer: its index in `problem`
  // Why no allocation exists, in words; empty if no contradiction was found.
  std::string contradiction;
};

// Joins all buffers that kColocate relations with delta 0 connect, transitively. The placements of
// the contracted Problem are those of the original, offset for offset.
//
// Returns nullopt if nothing is colocated, or if some colocation cannot be joined and needs an
// engine that supports kColocate: a delta other than 0, sizes that differ for some candidate, banks
// that only some members of a group may touch, or rules, which need engines that support all of
// them. Accesses of a group are joined too, so modes stay correct, but a group counts as one buffer
// at a port. `ladder` may be null. Cost: O(n + relations * size of the greatest group^2).
std::optional<Contraction> ContractColocated(const problem::Problem& problem,
                                             const problem::Ladder* ladder);

// Returns the placement of the original buffers for an allocation of the contracted Problem. Modes
// do not change.
problem::Allocation Expand(const Contraction& contraction, const problem::Allocation& allocation);

}  // namespace tessera::search::allocate

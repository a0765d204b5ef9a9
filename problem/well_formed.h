// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem {

// The longest horizon over which modes are scheduled: a mode schedule holds one entry per step.
inline constexpr Step kMaxModeSteps = 1'000'000;

// Returns the first fault, or nullopt. The diagnostic has a JSON pointer into the Problem's own
// JSON form ("/buffers/3/lifespans/0"). A well-formed Problem may still be infeasible. Faults are:
// - no memory; indices out of range; empty or duplicate ids;
// - sizes and alignments below 1; totals beyond base::kMaxTotal;
// - no lifespans; lifespans that are empty or that overlap or touch each other; accesses outside
//   the buffer's lifespans;
// - banks that overlap or leave their memory; negative ports; sets of banks that are empty or share
//   a bank;
// - modes with the wrong number of banks, or that allow accesses to a bank that is off; modes over
//   a horizon of more than kMaxModeSteps;
// - relations of a buffer with itself or across memories; a delta where none is used;
// - loops that cross, repeat or have no exit inside; an inner loop that ends with its outer one and
//   exits elsewhere (the step after that exit would be undefined);
// - rules and costs that name no buffers, buffers of several memories, or impossible numbers.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem);

// Returns the first two buffers with the same id, the earlier first, or nullopt. Cost: O(n).
std::optional<std::pair<size_t, size_t>> FindRepeatedId(const Problem& problem);

// Returns the first fault of the ladder, or nullopt. A ladder needs at least one candidate,
// distinct names, and in each candidate a size >= 1 for every buffer; totals stay within
// base::kMaxTotal.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem, const Ladder& ladder);

}  // namespace tessera::problem

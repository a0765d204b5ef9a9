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

// Why the Problem is meaningless, or nullopt. Checked are: no memory, sizes and alignments below 1,
// empty or overlapping lifespans, indices out of range, empty or duplicate ids, banks that overlap
// or leave their memory, accesses outside the buffer's lifespans, modes of the wrong width or that
// allow accesses while off, negative ports, relations of a buffer with itself or across memories, a
// delta where none is used, loops that cross, repeat or have no exit inside, an inner loop that
// ends with its outer one and exits elsewhere (the step after that exit would be undefined), modes
// over a horizon of more than kMaxModeSteps, rules and costs that name nothing, several memories,
// or impossible numbers, and totals beyond base::kMaxTotal. The diagnostic carries a JSON pointer
// into the Problem's own JSON form ("/buffers/3/lifespans/0"). A well-formed Problem may still be
// infeasible.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem);

// The first buffer whose id an earlier one has: the earlier, then the later. Cost: O(n).
std::optional<std::pair<size_t, size_t>> FindRepeatedId(const Problem& problem);

// The same as CheckWellFormed for a ladder: at least one candidate, distinct names, and in each
// candidate a size >= 1 for every buffer.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem, const Ladder& ladder);

}  // namespace tessera::problem

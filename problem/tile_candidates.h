// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem {

// One tile shape: a name for people ("rows=7") and the size of every buffer with this tile.
struct CandidateSizes {
  std::string name;
  std::vector<Bytes> sizes;  // parallel to Problem::buffers, each >= 1
};

// The tile candidates of one Problem: sizes that can be exchanged while liveness, memories,
// relations and loops stay the same. Candidates are ordered from the smallest tile to the largest.
// Sizes need not be linear in the tile, nor monotone.
struct Ladder {
  std::vector<CandidateSizes> candidates;
};

// Whether no size in `lower` exceeds the size of the same buffer in `upper`. If so, and if buffers
// of the Problem may shrink in place (ShrinkingIsSafe), every placement for `upper` is valid for
// `lower`.
bool Dominates(const CandidateSizes& upper, const CandidateSizes& lower);

// Whether shrinking buffers in place preserves every other constraint of the problem: there are no
// adjacent buffers, no buffers that must touch the same banks (a smaller one may leave a bank in
// which its partner stays), and no rule that applies only at some sizes. Natural alignment is safe:
// the power of two of a smaller size divides that of a larger size.
bool ShrinkingIsSafe(const Problem& problem);

// Returns the problem with the sizes of one candidate, otherwise unchanged.
Problem AtCandidate(const Problem& problem, const CandidateSizes& candidate);

// Returns an equivalent problem, with the same allocations, that has fewer rules. A rule that has
// the effect of an alignment, allowed banks or a relation on every candidate is replaced by it, so
// that engines without support for rules refuse less often. `ladder` may be null. Both are well
// formed, and so is the result. Cost: O(rules * buffers * candidates).
Problem FoldRules(const Problem& problem, const Ladder* ladder);

// Replaces rules about windows by reserved ranges and banks. Returns the problem unchanged if it
// has other rules or if the replacement fails. The allocations are the same up to `capacity`, the
// greatest capacity of memories[0] that will be requested. Only for engines: bounds and reasons
// would mention ranges and banks that the user did not state. Cost: O(rules * buffers + windows *
// buffers).
Problem FoldWindows(const Problem& problem, Bytes capacity);

}  // namespace tessera::problem

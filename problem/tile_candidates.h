#pragma once

#include <string>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem {

// One tile shape: a name for people ("rows=7") and the size of every buffer under it.
struct CandidateSizes {
  std::string name;
  std::vector<Bytes> sizes;  // parallel to Problem::buffers, each >= 1
};

// Sizes that may be exchanged while liveness, memories, relations and loops stay. Candidates come
// in the order in which a driver should climb, smallest tile first; sizes need not be linear in the
// tile, nor monotone.
struct Ladder {
  std::vector<CandidateSizes> candidates;
};

// Whether every size at `lower` is at most its size at `upper`. Only then, and only in a Problem in
// which buffers may shrink in place (ShrinkingIsSafe), does a placement for `upper` serve `lower`.
bool Dominates(const CandidateSizes& upper, const CandidateSizes& lower);

// Whether shrinking buffers in place keeps every other constraint of the problem satisfied: no
// adjacent buffers, none that must touch the same banks (a smaller one may leave a bank that its
// partner keeps), and no rule that is about a buffer at some sizes only. Natural alignment is safe:
// the power of two of a smaller size divides that of a larger.
bool ShrinkingIsSafe(const Problem& problem);

// The problem with the sizes of one candidate; everything else as it is.
Problem AtCandidate(const Problem& problem, const CandidateSizes& candidate);

// The same problem, allocation for allocation, with fewer rules: those that say on every candidate
// what an alignment, allowed banks or a relation can say as well are said there, so that engines
// which know no rules have fewer reasons to refuse. `ladder` may be null. Both are well formed, and
// so is the result. Cost: O(rules * buffers * candidates).
Problem FoldRules(const Problem& problem, const Ladder* ladder);

}  // namespace tessera::problem

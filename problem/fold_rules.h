#pragma once

#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// The same problem, allocation for allocation, with fewer rules: those that say on every rung what an
// alignment, allowed banks or a relation can say as well are said there, so that engines which know no rules
// have fewer reasons to refuse. `ladder` may be null. Both are well formed, and so is the result. Cost:
// O(rules * buffers * rungs).
Problem FoldRules(const Problem& problem, const Ladder* ladder);

}  // namespace tessera::problem

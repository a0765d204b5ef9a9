#pragma once

#include <string>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem {

// One sentence for each buffer or pair that does not keep a rule, in the order of the rules. Part of the
// validator: it looks at each requirement as rule.h defines it. `offsets` is parallel to problem.buffers and
// no offset + size overflows. Cost: O(rules * buffers * banks), and a sweep over time (overlap.h) for each
// rule that guards.
std::vector<std::string> FindBrokenRules(const Problem& problem, const std::vector<Bytes>& offsets,
                                         Bytes capacity);

}  // namespace tessera::problem

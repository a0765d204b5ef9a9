#pragma once

#include <optional>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// What makes the rules or the costs of a problem whose memories, buffers and modes are sound meaningless, or
// nullopt. Part of FindFault (well_formed.h).
std::optional<base::Diagnostic> FindFaultInRules(const Problem& problem);
std::optional<base::Diagnostic> FindFaultInCosts(const Problem& problem);

}  // namespace tessera::problem

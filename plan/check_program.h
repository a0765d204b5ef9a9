#pragma once

#include "tessera/plan/derivation.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Holds the plan's steps, loops, buffers, relations, rules and memory against what was derived: nothing may be missing, and
// nothing may be there that was not derived.
void CheckProgram(const Plan& plan, const Derivation& derivation, Findings& findings);

}  // namespace tessera::plan

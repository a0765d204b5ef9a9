#pragma once

#include "run.h"

// What was found is found again.
namespace tessera::audit {

// Every limit set to a found plan's own metrics is kept; what other objectives find is within the
// claims of each.
void CheckLimits(const PlanRequest& question, uint64_t seed, Run& run);

// A plan found is found again as a constraint, in whole and in part, and as the older plan.
void CheckConstraints(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

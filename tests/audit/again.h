// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "run.h"

// Checks that the search finds again what it has found once.
namespace tessera::audit {

// Sets every limit to the metrics of a found plan: an answer must then exist. The plans of other
// objectives must agree with the claims of each.
void CheckLimits(const PlanRequest& question, uint64_t seed, Run& run);

// States a found plan as constraints, in whole and in part, and as the previous plan: the search
// must find it again.
void CheckConstraints(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

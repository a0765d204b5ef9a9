#pragma once

#include "run.h"

namespace tessera::audit {

// Of so few operators that an oracle knows the best plan.
PlanRequest DrawSmall(base::Random& random);

// The search against the oracle.
void CheckOptimum(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

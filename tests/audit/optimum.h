// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "run.h"

namespace tessera::audit {

// Questions of so few operators that an oracle can find the best plan.
PlanRequest DrawSmall(base::Random& random);

// Compares the search with the oracle.
void CheckOptimum(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "run.h"

namespace tessera::audit {

// Questions of up to 16 operators, mostly few; in some draws with limits.
PlanRequest DrawAny(base::Random& random);

// A question that allows more never has a worse answer (more.cc).
void CheckMore(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

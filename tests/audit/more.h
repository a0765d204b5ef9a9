#pragma once

#include "run.h"

namespace tessera::audit {

// Of up to 16 operators, mostly few; in some draws with limits.
PlanRequest DrawAny(base::Random& random);

// More of anything allowed is never worse (more.cc).
void CheckMore(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

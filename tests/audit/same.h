#pragma once

#include "run.h"

namespace tessera::audit {

// What must not change an answer does not: threads, caches, names, the order of the file.
void CheckSame(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

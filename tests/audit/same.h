// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "run.h"

namespace tessera::audit {

// Changes that must not change an answer: threads, caches, names, the order of the file.
void CheckSame(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

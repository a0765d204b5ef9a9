// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "run.h"

namespace tessera::audit {

// Runs every engine alone on the Problems of a plan and on the question itself.
void CheckEngines(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit

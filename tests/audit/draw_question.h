// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "planner.h"
#include "tessera/base/random.h"

namespace tessera::audit {

// A network of up to so many operators, an accelerator and an objective without limits.
PlanRequest DrawPlanRequest(base::Random& random, int most_operators);

// One metric, or two with weights.
plan::Objective DrawObjective(base::Random& random);

// Adds one to three limits around the costs of a plan. If the latency has a limit, a ratio may
// become the only weight.
void DrawLimits(base::Random& random, const plan::Metrics& totals, plan::Objective& objective);

}  // namespace tessera::audit

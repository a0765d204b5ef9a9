#pragma once

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Whether the plan keeps to the demand, which is about its own network.
bool Keeps(const Plan& plan, const Demand& demand);

// Whether the plan keeps to all that was demanded of it. Its subgraphs cover its network.
void CheckDemands(const Plan& plan, Findings& findings);

}  // namespace tessera::plan

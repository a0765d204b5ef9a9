#pragma once

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Where the profile gives roles several homes: whether each tensor lives in the one that docs/program.md, "Several homes", gives it
// (graph::Tensor::home). Network and profile are sound. Cost: O(operators * tensors) where tensors take turns, and for each tensor the
// tensors of one memory.
void CheckAssignment(const Plan& plan, Findings& findings);

// Gives each tensor of the plan's network the home that the rule gives it.
void AssignHomes(Plan& plan);

}  // namespace tessera::plan

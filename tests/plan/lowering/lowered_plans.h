// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "../execute/plans.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

using execute::WithHomes;

// The plan with addresses at home, and its lowering, which must exist.
Plan WithLowering(const Plan& plan);

// The findings of the interpreter in the plan's lowering, one line each; "obstacle: .." where it
// runs nothing.
std::vector<std::string> FindingsIn(const Plan& plan, uint64_t seed = 1);

// Two convolutions of 10 rows and 4 columns in tiles of 4 rows and 1 column, transfers that overlap
// compute: twelve tiles, the last row of them smaller.
Plan TwoAxes();

// Plans that run, each lowered: one for every kind of holding, moving and keeping tensors.
struct NamedPlan {
  const char* name;
  Plan (*plan)();
};
const std::vector<NamedPlan>& PlansOfEveryKind();

}  // namespace tessera::plan::lowering

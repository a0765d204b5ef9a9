#pragma once

#include <string>
#include <vector>

#include "../execute/plans.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

using execute::WithHomes;

// The plan with addresses at home and its lowering, which there is.
Plan WithLowering(const Plan& plan);

// What the interpreter finds in the plan's lowering, one line each; "obstacle: .." where it runs
// nothing.
std::vector<std::string> FindingsIn(const Plan& plan, uint64_t seed = 1);

// Two convolutions of 10 rows and 4 columns in tiles of 4 rows and 1 column, transfers beside
// compute: twelve tiles, the last row of them smaller.
Plan TwoAxes();

// Plans that run, each lowered: one for every way to hold, to move and to keep.
struct NamedPlan {
  const char* name;
  Plan (*plan)();
};
const std::vector<NamedPlan>& PlansOfEveryKind();

}  // namespace tessera::plan::lowering

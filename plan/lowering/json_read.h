#pragma once

#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// "lowering" of a plan whose network, profile and subgraphs are known. Refuses names that these do not have, numbers of jobs,
// operands, loops and axes that are none, and what follows from the rest and contradicts it. Whether it does what the plan says is not
// asked.
Program ReadProgram(const std::vector<base::JsonValue>& values, const Plan& plan);

}  // namespace tessera::plan::lowering

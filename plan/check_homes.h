#pragma once

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Derives what every memory other than the tile memory is home to, subgraph by subgraph, notes where it is more than there is
// room for, and holds the plan's homes and their addresses against it. The partition has passed CheckPartition. Cost: that of
// problem::Validate for each memory, plus tensors times subgraphs.
void CheckHomes(const Plan& plan, Findings& findings);

}  // namespace tessera::plan

#pragma once

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Notes every subgraph while which a memory other than the tile memory is home to more bytes than it has room for. The
// partition has passed CheckPartition. Cost: linear in the tensors and operands of the network, times memories.
void CheckHomes(const Plan& plan, Findings& findings);

}  // namespace tessera::plan

#pragma once

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Whether the network is sound, the subgraphs cover each operator once and in order, and profile and shapes allow
// each tile and policy. Only where nothing is noted can a program be derived.
void CheckPartition(const Plan& plan, Findings& findings);

// The same of one subgraph's tile and policies alone, where network, profile and the cover are known to be sound.
void CheckSubgraph(const Plan& plan, size_t subgraph, Findings& findings);

}  // namespace tessera::plan

#pragma once

#include "tessera/plan/derivation.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Recounts multiply-accumulates, off-chip bytes and peaks of each subgraph, and holds totals, parts, bounds, limits and
// score against each other. Latency and energy are a simulation's word; here they only have to add up. The allocation
// has an offset for each buffer.
void CheckMetrics(const Plan& plan, const Derivation& derivation, Findings& findings);

}  // namespace tessera::plan

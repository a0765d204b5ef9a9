#pragma once

#include <vector>

#include "tessera/plan/holdings.h"
#include "tessera/plan/plan.h"

namespace tessera::plan {

// What one subgraph costs (docs/program.md, docs/profile-format.md): latency_cycles, energy_pj with energy_by_part, off_chip_bytes with
// off_chip_by_cause, macs, recomputed_macs, unknown_work, peak_bytes_per_cycle; bound_by is left empty and peak_bytes 0.
// `subgraph` is an index into plan.subgraphs; the partition has passed CheckPartition. Cost: tiles times operators.
Metrics CostOf(const Plan& plan, const std::vector<Users>& users, int subgraph);

}  // namespace tessera::plan

#pragma once

#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

namespace tessera::plan {

// Everything that is wrong with a plan, judged by its network, its profile and docs/program.md alone; empty when it is
// right. Regions, sizes, steps, lifespans, accesses, in-place pairs, latencies, energies, MACs, off-chip bytes and peak
// bandwidths are derived anew, by other means than graph/, encoder/adapt and search/simulate use, as is what every memory
// is home to; offsets and modes are then judged by problem::Validate. Lower bounds, the baseline and bound_by are not
// recomputed. Stops after `most` violations, and early where what is broken leaves nothing to derive. Cost: tiles times
// operators, plus that of problem::Validate.
std::vector<Violation> Validate(const Plan& plan, size_t most = 100);

}  // namespace tessera::plan

#pragma once

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/planning.h"

namespace tessera::search {

// The plan with constants prefetched wherever that lowers its score and all still fits; notes say how often, and what the status is
// about then. See prefetch.cc. `planning` and `demands` are those of the plan's network. After planning.stop nothing more is tried. An
// error is a fault of the program.
base::Expected<plan::Plan> Prefetch(const Planning& planning, const Demands& demands, plan::Plan plan);

}  // namespace tessera::search

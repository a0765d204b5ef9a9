#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

namespace tessera::plan {

// Reads plan.json, version 1. Refuses syntax errors (line and column), keys that nobody knows, missing or wrong
// values, ids that the embedded network or profile do not have, and derived entries ("first_step", "banks") that
// contradict the rest (JSON pointer). What the plan says is not judged; plan::Validate does that. Buffers come whole
// ones first, then subgraph by subgraph. `file` is for messages.
base::Expected<Plan> ReadPlanJson(std::string_view text, std::string file);

}  // namespace tessera::plan

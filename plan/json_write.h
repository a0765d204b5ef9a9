#pragma once

#include <optional>
#include <string>

#include "tessera/plan/plan.h"

namespace tessera::plan {

// The plan as plan.json, version 1 (docs/plan-format.md), ending in a newline. The same plan gives the same bytes;
// `time_ms` is for standard output only, where bytes need not repeat. The plan has one memory, an offset for each
// buffer and its buffers' and steps' indices are in range. Buffers are written whole ones first, then those of each
// subgraph, each in their order.
std::string WritePlanJson(const Plan& plan, std::optional<double> time_ms = std::nullopt);

}  // namespace tessera::plan

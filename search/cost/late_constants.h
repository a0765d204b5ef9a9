// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/lower_bounds.h"

namespace tessera::search::cost {

// Returns a lower bound of the latency of an interval: the sum of the passes, or more if the tile
// memory cannot hold the constants before they are used (late_constants.cc). `passes` contains a
// lower bound of the engine cycles of each operator of the interval. Cost: if constants do not fit,
// operators with constants times operators and their operands.
int64_t LatencyWithLateConstants(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                 std::span<const graph::Usage> usages, const Coverage& coverage,
                                 std::span<const int64_t> passes);

}  // namespace tessera::search::cost

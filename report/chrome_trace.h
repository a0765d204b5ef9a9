// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/plan/plan.h"
#include "tessera/plan/timeline.h"

namespace tessera::report {

// Returns the activity of each engine and each link in Chrome's trace event format
// (chrome://tracing, Perfetto). One microsecond in the viewer is one cycle. Subgraphs have a
// separate track. For programs with too many activities, only the first and last tiles of each
// subgraph are written, and one event represents the rest. The last event ends at latency_cycles.
// Equal plans give equal bytes.
std::string WriteTrace(const plan::Plan& plan, const plan::TimelineSource& timeline_of);

}  // namespace tessera::report

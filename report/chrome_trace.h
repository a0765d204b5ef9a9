#pragma once

#include <string>

#include "tessera/plan/plan.h"

namespace tessera::report {

// When each engine and each link works, in Chrome's trace event format (chrome://tracing,
// Perfetto): one microsecond of the viewer is one cycle. Subgraphs stand on a track of their own;
// of programs with too many activities only the first and last tiles of each subgraph are told, and
// one event stands for the rest. The last event ends at latency_cycles. Equal plans give equal
// bytes.
std::string WriteTrace(const plan::Plan& plan);

}  // namespace tessera::report

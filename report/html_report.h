// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/plan/plan.h"
#include "tessera/plan/timeline.h"

namespace tessera::report {

// The plan as one self-contained HTML page that loads nothing from the network (docs/report.md). It
// shows headline numbers next to the baseline and the lower bounds; the network with its cuts; and
// for every subgraph its memory map, its timeline and its costs. Names occur as data only, never as
// markup. Equal plans give equal bytes.
std::string WriteReport(const plan::Plan& plan, const plan::TimelineSource& timeline_of);

}  // namespace tessera::report

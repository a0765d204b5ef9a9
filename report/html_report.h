#pragma once

#include <string>

#include "tessera/plan/plan.h"

namespace tessera::report {

// The plan as one HTML page that needs nothing else and asks no network (docs/report.md): headline
// numbers beside the baseline and the lower bounds, the network with its cuts, and for every
// subgraph its memory map, its timeline and what it costs. Names stand in it as data alone, never
// as markup. Equal plans give equal bytes.
std::string WriteReport(const plan::Plan& plan);

}  // namespace tessera::report

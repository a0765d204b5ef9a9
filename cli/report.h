#pragma once

#include <string>

#include "tessera/plan/plan.h"

namespace tessera::cli {

// The plan as one HTML page that needs nothing else: headline numbers beside the baseline and the lower
// bounds, the network with its cuts, and for every subgraph what it costs and its memory map. All names are
// escaped.
std::string WriteReport(const plan::Plan& plan);

}  // namespace tessera::cli

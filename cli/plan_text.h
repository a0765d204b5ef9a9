#pragma once

#include <string>

#include "tessera/plan/plan.h"

namespace tessera::cli {

// The plan as tables for a terminal: subgraphs, totals beside the baseline and the lower bounds, notes.
std::string DescribePlan(const plan::Plan& plan, double time_ms);

}  // namespace tessera::cli

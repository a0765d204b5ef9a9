#pragma once

#include <string>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/analysis/front.h"

namespace tessera::report {

// The plan as tables for a terminal: subgraphs, totals beside the baseline and the lower bounds,
// notes.
std::string DescribePlan(const plan::Plan& plan, double time_ms);

// What `tessera plan --pareto` prints.

// A table of the points, each with the options that find its plan.
std::string DescribeFront(const search::partition::analysis::Front& front, double time_ms);

// The same as a `tessera-front` document.
std::string FrontAsJson(const search::partition::analysis::Front& front, double time_ms);

}  // namespace tessera::report

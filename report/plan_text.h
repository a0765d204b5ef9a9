#pragma once

#include <string>

#include "tessera/plan/plan.h"

namespace tessera::report {

// The plan as tables for a terminal: subgraphs, totals next to the baseline and the lower bounds,
// and notes.
std::string DescribePlan(const plan::Plan& plan, double time_ms);

// The output of `tessera plan --pareto`.

// A table of the points, each with the options that reproduce its plan.
std::string DescribeFront(const plan::PartitionFront& front, double time_ms);

// The same as a `tessera-front` document.
std::string FrontAsJson(const plan::PartitionFront& front, double time_ms);

}  // namespace tessera::report

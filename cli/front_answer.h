#pragma once

#include <string>

#include "tessera/search/partition/front.h"

// What `tessera plan --pareto` prints.
namespace tessera::cli {

// A table of the points, each with the options that find its plan.
std::string DescribeFront(const search::Front& front, double time_ms);

// The same as a `tessera-front` document.
std::string FrontAsJson(const search::Front& front, double time_ms);

}  // namespace tessera::cli

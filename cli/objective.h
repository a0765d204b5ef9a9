#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

namespace tessera::cli {

// The objective that options state; texts as the user typed them, each may be empty. At most one of
// `minimize` and `score` is given; neither means latency.
//   minimize   a metric: "latency"
//   score      weights: "latency=0.4,energy=0.6"
//   limits     the most allowed: "energy=2e9,peak=300000"
base::Expected<plan::Objective> ParseObjective(const std::string& minimize, const std::string& score,
                                               const std::string& limits);

}  // namespace tessera::cli

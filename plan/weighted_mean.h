// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "tessera/plan/metrics.h"

// The score of an objective with several weights: the mean of its metrics, each divided by a value
// that makes it comparable with the others.
namespace tessera::plan {

// The divisor of the metric in the mean: its lower bound in plans within the limits. If the bound
// is 0:
//
//     ratio, or maximum over steps    the numerator's lower bound over that of the latency: the
//                                     ratio of a plan that meets both, though a slower plan may
//                                     have a lower one
//     others, and if this is 0 too    1: the metric counts in its own unit
//
// So a plan that meets all its lower bounds scores 1, and the units of metrics do not matter.
double DivisorOf(const Metrics& lower_bounds, const Metric& metric,
                 const std::map<std::string, double>& limits);

}  // namespace tessera::plan

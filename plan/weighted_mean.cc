// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/weighted_mean.h"

namespace tessera::plan {

double DivisorOf(const Metrics& lower_bounds, const Metric& metric,
                 const std::map<std::string, double>& limits) {
  const double bound = LowerBoundOf(lower_bounds, metric, limits);
  if (bound > 0) return bound;
  // Within the time of the fastest plan, the lower bound is the ratio of the two lower bounds.
  const double fastest =
      LowerBoundOf(lower_bounds, metric, {{"latency", ValueOf(lower_bounds, "latency")}});
  return fastest > 0 ? fastest : 1;
}

}  // namespace tessera::plan

// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "tessera/plan/verify/infeasibility/lower_bounds.h"

namespace tessera::plan::verify::infeasibility {

bool IsWorkKnown(const graph::Graph& network) {
  return std::none_of(network.operators.begin(), network.operators.end(), graph::HasUnknownWork);
}

SumLimits LimitsOfSums(const Plan& question) {
  const bool known = IsWorkKnown(question.network);
  const std::map<std::string, double>& given = question.objective.limits;
  SumLimits limits;
  for (size_t i = 0; i < limits.size(); ++i) {
    const Metric& metric =
        IsExcess(i) ? *kRatioMetrics[i - kSummedMetrics.size()] : *kSummedMetrics[i];
    const auto limit = given.find(std::string(metric.name));
    if (limit != given.end() && (known || !IsExcess(i)))
      limits[i] = IsExcess(i) ? 0 : limit->second;
  }
  return limits;
}

Sums SumsOf(const Metrics& metrics, const Plan& question) {
  constexpr double kRounding = 1e-9;
  const SumLimits limits = LimitsOfSums(question);
  Sums sums = {};
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!limits[i]) continue;
    if (!IsExcess(i)) {
      sums[i] = ValueOf(metrics, *kSummedMetrics[i]);
      continue;
    }
    const Metric& ratio = *kRatioMetrics[i - kSummedMetrics.size()];
    const double most = question.objective.limits.at(std::string(ratio.name));
    sums[i] = ExcessOf(metrics, ratio, most * (1 + kRounding));
  }
  return sums;
}

Sums LeastSums(const Metrics& least, const Plan& question) {
  Sums sums = SumsOf(least, question);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (IsExcess(i)) sums[i] = -std::numeric_limits<double>::infinity();
  }
  return sums;
}

Sums Added(Sums a, const Sums& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

bool AreWithin(const SumLimits& limits, const Sums& sums, SumOf what) {
  for (size_t i = 0; i < sums.size(); ++i) {
    if (IsExcess(i) && what == SumOf::kPart) continue;
    if (limits[i] && IsBeyond(sums[i], *limits[i])) return false;
  }
  return true;
}

bool AreAsLow(const SumLimits& limits, const Sums& a, const Sums& b) {
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] && a[i] > b[i]) return false;
  }
  return true;
}

}  // namespace tessera::plan::verify::infeasibility

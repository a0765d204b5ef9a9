// SPDX-License-Identifier: Apache-2.0

#include "claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/metrics.h"

namespace tessera::audit {
namespace {

bool IsWithin(const std::map<std::string, double>& limits, const plan::Metrics& totals) {
  return std::all_of(limits.begin(), limits.end(), [&](const auto& limit) {
    return !IsLess(limit.second, plan::ValueOf(totals, limit.first));
  });
}

}  // namespace

double ScoreUnder(const plan::Objective& objective, const plan::Metrics& bounds,
                  const plan::Metrics& totals) {
  double score = 0;
  double sum = 0;
  for (const auto& [metric, weight] : objective.weights) {
    if (objective.weights.size() == 1) return plan::ValueOf(totals, metric);
    score += weight * plan::ValueOf(totals, metric) /
             plan::DivisorOf(bounds, *plan::FindMetric(metric), objective.limits);
    sum += weight;
  }
  return score / sum;
}

void Claims::Check(Run& run) const {
  for (const Entry& claim : entries_) {
    for (const Entry& witness : entries_) {
      if (witness.answer.plan) CheckAgainst(claim, witness, run);
    }
  }
}

void Claims::CheckAgainst(const Entry& claim, const Entry& witness, Run& run) const {
  const plan::Metrics& totals = witness.answer.plan->totals;
  const auto report = [&](const std::string& kind, const std::string& what) {
    run.Report({kind,
                fmt::format("{}; there is {}", what, Describe(witness.answer)),
                claim.question,
                {{"witness.json", plan::files::WritePlanJson(*witness.answer.plan)}},
                {"# the witness was found by: " + CommandOf(witness.question),
                 "tessera check --execute witness.json"}});
  };
  if (claim.answer.plan) {
    // Bounds of ratios, and of the peak bandwidth, are for plans within the limit of the latency.
    std::map<std::string, double> limits = claim.question.objective.limits;
    std::erase_if(limits, [](const auto& limit) { return limit.first != "latency"; });
    if (!IsWithin(limits, totals)) limits.clear();
    for (const plan::Metric& metric : plan::kMetrics) {
      const double bound = plan::LowerBoundOf(claim.answer.plan->lower_bounds, metric, limits);
      if (IsLess(plan::ValueOf(totals, metric), bound))
        report(fmt::format("bound of {} above a plan", metric.name),
               fmt::format("{} at least {}", metric.name, bound));
    }
  }
  if (!claim.question.constraints.empty() || !IsWithin(claim.question.objective.limits, totals))
    return;
  if (claim.answer.IsInfeasible())
    return report("infeasible, and there is a plan", Describe(claim.answer));
  if (!claim.answer.IsOptimal()) return;
  const plan::Metrics& bounds = claim.answer.plan->lower_bounds;
  const double score = ScoreUnder(claim.question.objective, bounds, claim.answer.plan->totals);
  if (IsLess(ScoreUnder(claim.question.objective, bounds, totals), score))
    report("optimal is beaten", Describe(claim.answer));
}

}  // namespace tessera::audit

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/analysis/confirm_bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/encoder/program/homes.h"
#include "tessera/plan/metrics.h"
#include "tessera/search/partition/answer/refusal.h"

namespace tessera::search::partition::analysis {
namespace {

constexpr double kStep = 1e-9;  // ten times the judge's tolerance
constexpr int64_t kMostWork = 30'000;

double JustBelow(double bound) { return bound * (1 - kStep); }

}  // namespace

std::optional<BoundConfirmation> ConfirmBound(const plan::Plan& plan, const graph::Graph& graph,
                                              const answer::PartitionOptions& options) {
  if (plan.objective.weights.size() > 1) return std::nullopt;
  const std::string name =
      plan.objective.weights.empty() ? "latency" : plan.objective.weights.begin()->first;
  const plan::Metric* metric = plan::FindMetric(name);
  if (metric == nullptr) return std::nullopt;
  const double bound = plan.status == "optimal"
                           ? plan::ValueOf(plan.totals, *metric)
                           : plan::LowerBoundOf(plan.lower_bounds, *metric, plan.objective.limits);
  if (bound <= 0) return std::nullopt;
  answer::PartitionOptions below = options;
  below.most_work = kMostWork;
  auto [limit, is_new] = below.objective.limits.emplace(name, JustBelow(bound));
  if (!is_new) limit->second = std::min(limit->second, JustBelow(bound));
  const plan::verify::infeasibility::RefutationResult judged = answer::JudgeWhetherNone(
      encoder::program::WithHomes(graph, plan.profile), plan.profile, below);
  return BoundConfirmation{fmt::format("no plan has {} below {:.12g}", name, bound),
                           judged.refutation.has_value(), judged.gap};
}

}  // namespace tessera::search::partition::analysis

// SPDX-License-Identifier: Apache-2.0

#include <tessera/bounds.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/metrics.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/partition/analysis/analyses.h"
#include "tessera/search/partition/rewriting.h"

namespace tessera::api {
namespace {

std::vector<MetricValue> BoundsOf(const graph::Graph& network, const hw_profiles::Profile& profile,
                                  const std::map<std::string, double>& limits) {
  const plan::Metrics bounds =
      search::cost::FindLowerBounds(encoder::program::WithHomes(network, profile), profile);
  std::vector<MetricValue> values;
  values.reserve(std::size(plan::kMetrics));
  for (const plan::Metric& metric : plan::kMetrics)
    values.emplace_back(metric.name, plan::LowerBoundOf(bounds, metric, limits));
  return values;
}

Result<std::vector<MetricValue>> Bounds(const Network& network, const Profile& profile,
                                        const std::vector<MetricValue>& limits) {
  const graph::Graph& graph = network.Get().graph;
  const hw_profiles::Profile& hardware = profile.Get().profile;
  const std::map<std::string, double> most(limits.begin(), limits.end());
  std::vector<MetricValue> values = BoundsOf(graph, hardware, most);
  // A network that does not fit is planned in the other form.
  const auto rewriting = search::partition::RewriteWhatDoesNotFit(graph, hardware);
  if (!rewriting) return values;
  const std::vector<MetricValue> others = BoundsOf(rewriting->network, hardware, most);
  for (size_t i = 0; i < values.size(); ++i)
    values[i].second = std::min(values[i].second, others[i].second);
  return values;
}

Result<std::string> WhyNone(const Network& network, const Profile& profile,
                            const std::vector<MetricValue>& limits) {
  plan::Plan question;
  question.network = network.Get().graph;
  question.profile = profile.Get().profile;
  question.objective.limits = {limits.begin(), limits.end()};
  std::string why = plan::verify::infeasibility::FindQuickArgument(question);
  if (why.empty()) return why;
  // A network that does not fit is planned in the other form.
  auto rewriting = search::partition::RewriteWhatDoesNotFit(question.network, question.profile);
  if (!rewriting) return why;
  question.network = std::move(rewriting->network);
  return plan::verify::infeasibility::FindQuickArgument(question);
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<std::vector<MetricValue>> LowerBounds(const Network& network, const Profile& profile,
                                             const std::vector<MetricValue>& limits) {
  return api::Guarded([&] { return api::Bounds(network, profile, limits); });
}

Result<std::string> WhyNoPlan(const Network& network, const Profile& profile,
                              const std::vector<MetricValue>& limits) {
  return api::Guarded([&] { return api::WhyNone(network, profile, limits); });
}

Result<bool> IsAtLeastAsGood(const Network& network, const Profile& better, const Profile& worse,
                             const std::vector<std::string>& metrics) {
  return api::Guarded([&]() -> Result<bool> {
    const std::vector<std::string_view> names(metrics.begin(), metrics.end());
    return search::partition::analysis::IsAtLeastAsGood(network.Get().graph, better.Get().profile,
                                                        worse.Get().profile, names);
  });
}

}  // namespace v0
}  // namespace tessera

#include "tessera/search/partition/prefetch_search.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/plan_assembly.h"

// Constants are prefetched on the partition that a search finds (driver/prefetch.cc), so the search
// tests limits before that. A plan may keep a limit on the latency, on the energy or on a rate only
// with prefetched constants. If the search finds none, these limits are dropped, and plans are
// searched for the least latency, and for the least of each metric that has such a limit. The first
// plan that keeps all limits with its constants prefetched is the answer. It claims no more than
// its lower bound shows. Cost: at most one search for each limit, and one for the latency; only
// where there would be no plan.
namespace tessera::search::partition {
namespace {

constexpr std::string_view kOtherPrefetched =
    "plans that keep the limits only with prefetched constants; few of these were tried";

// Prefetching moves transfers. Work, traffic and the peak of the tile memory do not fall.
bool FallsByPrefetching(const std::string& metric) {
  return metric != "macs" && metric != "off_chip_bytes" && metric != "peak";
}

// Of a ratio over time, its numerator: without a limit on the latency, waiting makes it small.
std::vector<std::string> RelatedMetrics(const plan::Objective& objective) {
  std::vector<std::string> metrics = {"latency"};
  for (const auto& [name, limit] : objective.limits) {
    if (!FallsByPrefetching(name)) continue;
    const plan::Metric& metric = *plan::FindMetric(name);
    const std::string related(metric.joining == plan::Joining::kRatio ? NumeratorOf(metric)
                                                                      : metric.name);
    if (std::find(metrics.begin(), metrics.end(), related) == metrics.end())
      metrics.push_back(related);
  }
  return metrics;
}

plan::Objective Related(plan::Objective objective, const std::string& metric) {
  std::erase_if(objective.limits,
                [](const auto& limit) { return FallsByPrefetching(limit.first); });
  objective.weights = {{metric, 1}};
  return objective;
}

}  // namespace

base::Expected<answer::PartitionResult> SearchForPrefetched(const graph::Graph& graph,
                                                            const hw_profiles::Profile& profile,
                                                            const answer::PartitionOptions& options,
                                                            const SearchFunction& search) {
  base::Expected<answer::PartitionResult> without = search(graph, options);
  const std::map<std::string, double>& limits = options.objective.limits;
  const bool may_help =
      options.prefetch && std::any_of(limits.begin(), limits.end(), [](const auto& limit) {
        return FallsByPrefetching(limit.first);
      });
  if (!without || without->plan || !may_help) return without;
  const plan::Metrics lower_bounds =
      cost::FindLowerBounds(encoder::program::WithHomes(graph, profile), profile);
  const base::Expected<cost::Scale> scale = cost::Scale::Make(options.objective, lower_bounds);
  if (!scale) return base::Unexpected(scale.error());
  for (const std::string& metric : RelatedMetrics(options.objective)) {
    if (options.stop != nullptr && options.stop->Requested()) break;
    answer::PartitionOptions related = options;
    related.objective = Related(options.objective, metric);
    base::Expected<answer::PartitionResult> found = search(graph, related);
    if (!found) return found;
    if (!found->plan || !scale->WithinLimits(scale->CostOf(found->plan->totals))) continue;
    answer::RateAnew(*scale, lower_bounds, kOtherPrefetched, *found->plan);
    found->status =
        found->plan->status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
    if (auto fault = answer::CheckWellFormed(*found->plan)) return base::Unexpected(*fault);
    return found;
  }
  without->reason += "; no plan was found that keeps the limits with prefetched constants";
  return without;
}

}  // namespace tessera::search::partition

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/related_search.h"

// A search with limits drops paths that exceed them, and has no plan to compare with until one path
// keeps all. If limits are as low as only a plan of another objective reaches, nearly every tile
// shape must be examined, and the search may end without a plan. A search for that objective,
// without these limits, finds the plan by its bounds. So:
//
// 1. A limit of the only metric that is minimised excludes no best plan. It is dropped first, if
//    bounds leave a plan that keeps the limits.
// 2. If the search with the limits finds no plan and proves nothing, related objectives are tried.
//    The first plan that keeps all limits is the answer. It claims no more than its lower bound
//    shows. If a peak is minimised, the first related objective is the least latency within the
//    same limits: any placement below a limit then suffices, and no least peak must be proven for
//    each tile. After that the limits are dropped. The least of each metric that has a limit is
//    searched, then the objective, then the least of each ratio that has a limit.
//
// Prefetched constants are a case of the second kind. They are placed on the partition that a
// search finds (driver/prefetch.cc), so the search tests limits before that. Only a limit on the
// latency, on the energy or on a rate may be kept by prefetching alone; other limits stay.
//
// Cost: one more search for the first kind; for the second, at most two for each limit and two
// more, only if there would be no plan. With a deadline, a search with limits has a share of the
// time, and each of the other searches half of the time that is left. Once there is a plan, or if
// the others find none, the remaining time is for the same search from the beginning, with the
// cached answers of its engines.
namespace tessera::search::partition {
namespace {

constexpr std::string_view kOthers =
    "plans that a search without the limits does not find; few of these were tried";
constexpr double kShareWithLimits = 0.25;
constexpr double kShareOfEach = 0.5;  // of the remaining time, for each of the other searches
constexpr auto kAnyLatency = static_cast<double>(base::kMaxTotal);  // cycles

// Returns the metric that is minimised, if it is the only one and no ratio.
std::optional<std::string> OnlyMetric(const plan::Objective& objective) {
  std::vector<std::string> metrics;
  for (const auto& [name, weight] : objective.weights) {
    if (weight > 0) metrics.push_back(name);
  }
  if (metrics.empty()) return "latency";
  const bool is_ratio = plan::FindMetric(metrics.front())->joining == plan::Joining::kRatio;
  return metrics.size() == 1 && !is_ratio ? std::optional(metrics.front()) : std::nullopt;
}

bool MinimizesPeaks(const plan::Objective& objective) {
  return std::any_of(objective.weights.begin(), objective.weights.end(), [](const auto& entry) {
    return entry.second > 0 && (entry.first == "peak" || entry.first == "off_chip_peak");
  });
}

class LimitSearch {
 public:
  explicit LimitSearch(const RelatedSearch& asked)
      : asked_(asked),
        options_(asked.Options()),
        remembering_(tiling::Engines(options_.engines.begin(), options_.engines.end())) {}

  base::Expected<answer::PartitionResult> Run() {
    bool ran_out = false;
    base::Expected<answer::PartitionResult> result = SearchWithLimits(ran_out);
    if (!result || (result->plan && asked_.KeepsLimits(*result->plan))) return result;
    const bool is_open = ran_out || result->status == problem::Status::kUnknown ||
                         (result->status == problem::Status::kInfeasible && options_.prefetch);
    if (!is_open) return result;
    for (const plan::Objective& related : Related()) {
      if (asked_.IsStopped()) break;
      const base::Stop in_part(
          options_.stop == nullptr ? std::nullopt : options_.stop->Before(kShareOfEach),
          options_.stop);
      base::Expected<answer::PartitionResult> found = Search(related, &in_part);
      if (!found) return found;
      if (!found->plan || !asked_.KeepsLimits(*found->plan)) continue;
      if (auto fault = asked_.Claim(kOthers, *found)) return base::Unexpected(*fault);
      if (!ran_out || asked_.IsStopped()) return found;
      return BetterOf(*std::move(found), Search(options_.objective, options_.stop));
    }
    if ((result->plan || ran_out) && !asked_.IsStopped())
      return Search(options_.objective, options_.stop);
    if (options_.prefetch)
      result->reason += "; no plan was found that keeps the limits with prefetched constants";
    return result;
  }

 private:
  base::Expected<answer::PartitionResult> Search(const plan::Objective& objective,
                                                 const base::Stop* stop) const {
    answer::PartitionOptions options = options_;
    options.objective = objective;
    options.stop = stop;
    if (options.cached == nullptr) options.cached = &remembering_;
    return asked_.Run(options);
  }

  // Searches first without the limit of the only metric. If the time for that runs out, the result
  // may be a plan that exceeds this limit, and a search with all limits would run out of time too.
  base::Expected<answer::PartitionResult> SearchWithLimits(bool& ran_out) const {
    plan::Objective without = options_.objective;
    const std::optional<std::string> own = OnlyMetric(without);
    if (own && asked_.MayKeepLimits() && without.limits.erase(*own) > 0) {
      base::Expected<answer::PartitionResult> found = SearchInPart(without, ran_out);
      if (!found || (!found->plan && ran_out)) return found;
      if (found->plan && asked_.KeepsLimits(*found->plan)) {
        found->plan->objective = asked_.Scale().Objective();
        if (auto fault = answer::CheckWellFormed(*found->plan, options_.stop))
          return base::Unexpected(*fault);
        return found;
      }
      if (ran_out) return found;
    }
    return SearchInPart(options_.objective, ran_out);
  }

  base::Expected<answer::PartitionResult> SearchInPart(const plan::Objective& objective,
                                                       bool& ran_out) const {
    if (objective.limits.empty() || options_.stop == nullptr || !options_.stop->Deadline())
      return Search(objective, options_.stop);
    const base::Stop in_part(options_.stop->Before(kShareWithLimits), options_.stop);
    base::Expected<answer::PartitionResult> result = Search(objective, &in_part);
    ran_out = in_part.Requested();
    if (!ran_out || !result || !result->plan || !asked_.KeepsLimits(*result->plan) ||
        asked_.IsStopped())
      return result;
    const base::Stop in_the_rest(std::nullopt, options_.stop);  // has cut nothing off so far
    return BetterOf(*std::move(result), Search(objective, &in_the_rest));
  }

  static base::Expected<answer::PartitionResult> BetterOf(
      answer::PartitionResult known, base::Expected<answer::PartitionResult> longer) {
    if (longer && (!longer->plan || cost::IsLess(known.plan->score, longer->plan->score)))
      return known;
    return longer;
  }

  // Returns the related objectives: the least latency within all limits, if a peak is minimised;
  // then each metric that has a limit, and the objective itself, without limits. With prefetched
  // constants, the limits that prefetching cannot help to keep stay. A ratio over time is replaced
  // by its numerator, because without a limit on the latency, waiting makes the ratio small; the
  // ratios themselves come last.
  std::vector<plan::Objective> Related() const {
    plan::Objective without = options_.objective;
    std::erase_if(without.limits, [this](const auto& limit) {
      return !options_.prefetch || plan::DependsOnTime(limit.first);
    });
    std::vector<std::string> metrics;
    for (const auto& [name, limit] : options_.objective.limits) {
      if (without.limits.contains(name)) continue;
      const plan::Metric& metric = *plan::FindMetric(name);
      std::string least(metric.joining == plan::Joining::kRatio ? NumeratorOf(metric)
                                                                : metric.name);
      if (std::find(metrics.begin(), metrics.end(), least) == metrics.end())
        metrics.push_back(std::move(least));
    }
    // Most limits come from plans of least latency. The least peak takes the most time.
    const auto turn_of = [](const std::string& metric) {
      return metric == "latency" ? 0 : metric == "peak" ? 2 : 1;
    };
    std::stable_sort(metrics.begin(), metrics.end(),
                     [&](const auto& a, const auto& b) { return turn_of(a) < turn_of(b); });
    std::vector<plan::Objective> related;
    if (MinimizesPeaks(options_.objective)) {
      related.push_back(options_.objective);
      related.back().weights = {{"latency", 1}};
    }
    for (const std::string& metric : metrics) {
      related.push_back(without);
      related.back().weights = {{metric, 1}};
    }
    if (!metrics.empty() && !WeighsRatios(without)) related.push_back(without);
    for (const plan::Metric* ratio : plan::kRatioMetrics) {
      const std::string name(ratio->name);
      if (!options_.objective.limits.contains(name) || without.limits.contains(name)) continue;
      related.push_back(without);
      related.back().weights = {{name, 1}};
      related.back().limits.emplace("latency", kAnyLatency);  // a ratio alone needs some limit
    }
    return related;
  }

  const RelatedSearch& asked_;
  const answer::PartitionOptions& options_;
  const tiling::CachedEngines remembering_;
};

}  // namespace

base::Expected<answer::PartitionResult> SearchForLimits(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search) {
  if (options.objective.limits.empty()) return search(graph, options);
  const base::Expected<RelatedSearch> asked = RelatedSearch::Make(graph, profile, options, search);
  if (!asked) return base::Unexpected(asked.error());
  return LimitSearch(*asked).Run();
}

}  // namespace tessera::search::partition

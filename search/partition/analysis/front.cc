// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "tessera/search/partition/analysis/analyses.h"

// Epsilon constraints (Haimes 1971), placed where they are most informative. The least latency and
// the least value of each other metric are the ends of a curve. Between two neighbours on it is a
// gap. The search for the least latency with the metric limited to the middle of a gap finds a plan
// that divides the gap in two. It also shows that no plan lies between that plan and the limit:
//
//     latency
//       |  q                    q: the least value of the metric
//       |   '. (lo)             r: found under the limit; no plan lies in the shaded part,
//       |     '   r                because it would have been found
//       |     '   |///|         gaps left: (lo, r) and (limit, hi)
//       |     '   |///|    p    p: the least latency
//       '-----'---'---'----'--> metric
//            lo      limit hi
//
// The gap that covers most of the curve's rectangle comes next, so that few searches show its
// shape. Each search proves its point as far as it proves anything. The searches share a cache of
// engine answers.
namespace tessera::search::partition::analysis {
namespace {

constexpr std::string_view kLatency = "latency";

// Gaps that cover less of the rectangle do not justify a search.
constexpr double kFine = 0.002;

struct Gap {
  std::string metric;
  double low = 0;  // of the metric
  double high = 0;
  double slow = 0;   // latency at `low`
  double fast = 0;   // latency at `high`
  double whole = 0;  // area of the rectangle between the curve's ends

  double Share() const { return whole > 0 ? (high - low) * (slow - fast) / whole : 0; }
};

// Whether `a` is at least as good in every metric.
bool Covers(const plan::Metrics& a, const plan::Metrics& b) {
  return std::all_of(plan::kMetrics.begin(), plan::kMetrics.end(), [&](const plan::Metric& metric) {
    return !metric.is_of_front || ValueOf(a, metric) <= ValueOf(b, metric);
  });
}

class FrontSearch {
 public:
  FrontSearch(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const answer::PartitionOptions& options, int most)
      : graph_(graph),
        profile_(profile),
        options_(options),
        remembering_(tiling::Engines(options.engines.begin(), options.engines.end())),
        most_(most) {
    if (options_.cached == nullptr) options_.cached = &remembering_;
  }

  base::Expected<Front> Run() {
    const auto fastest = Search(kLatency, {});
    if (!fastest) return base::Unexpected(fastest.error());
    if (!*fastest) return std::move(front_);
    for (const plan::Metric& metric : plan::kMetrics) {
      if (!metric.is_of_front || metric.name == kLatency) continue;
      const auto least = Search(metric.name, {});
      if (!least) return base::Unexpected(least.error());
      if (*least) AddGap(metric.name, **least, **fastest);
    }
    while (!gaps_.empty() && MaySearch()) {
      if (auto fault = SplitWidest()) return base::Unexpected(*fault);
    }
    const bool known =
        std::none_of(graph_.operators.begin(), graph_.operators.end(), graph::HasUnknownWork);
    front_.complete = gaps_.empty() && !left_out_ && !IsStopped() && known;
    Tidy();
    return std::move(front_);
  }

 private:
  bool IsStopped() const { return options_.stop != nullptr && options_.stop->Requested(); }
  bool MaySearch() const { return front_.searches < most_ && !IsStopped(); }

  // Searches for the least value of `metric` with a further limit, if any. Returns the totals of
  // the plan found; nullopt if there is none.
  base::Expected<std::optional<plan::Metrics>> Search(
      std::string_view metric, const std::optional<std::pair<std::string, double>>& limit) {
    if (!MaySearch()) {
      front_.refusal.reason = "stopped before a plan was found";
      left_out_ = true;
      return std::nullopt;
    }
    answer::PartitionOptions options = options_;
    options.objective.weights = {{std::string(metric), 1}};
    options.judges_refusals = options.judges_refusals && !limit;
    if (limit) {
      double& most =
          options.objective.limits.try_emplace(limit->first, limit->second).first->second;
      most = std::min(most, limit->second);
    }
    ++front_.searches;
    base::Expected<answer::PartitionResult> found = SearchPartition(graph_, profile_, options);
    if (!found) return base::Unexpected(found.error());
    if (!found->plan) {
      front_.refusal = *std::move(found);
      return std::nullopt;
    }
    const plan::Metrics totals = found->plan->totals;
    front_.points.push_back({std::move(options.objective), *std::move(found->plan)});
    return totals;
  }

  void AddGap(std::string_view metric, const plan::Metrics& least, const plan::Metrics& fastest) {
    Gap gap{.metric = std::string(metric),
            .low = plan::ValueOf(least, metric),
            .high = plan::ValueOf(fastest, metric),
            .slow = plan::ValueOf(least, kLatency),
            .fast = plan::ValueOf(fastest, kLatency)};
    gap.whole = (gap.high - gap.low) * (gap.slow - gap.fast);
    Keep(gap);
  }

  void Keep(const Gap& gap) {
    if (gap.high - gap.low > 1 && gap.Share() > kFine) gaps_.push_back(gap);
  }

  std::optional<base::Diagnostic> SplitWidest() {
    const auto widest =
        std::max_element(gaps_.begin(), gaps_.end(),
                         [](const Gap& a, const Gap& b) { return a.Share() < b.Share(); });
    const Gap gap = *widest;
    gaps_.erase(widest);
    const double limit = std::max(gap.low, std::floor((gap.low + gap.high) / 2));
    const auto found = Search(kLatency, std::pair(gap.metric, limit));
    if (!found) return found.error();
    Gap above = gap;
    above.low = limit;
    if (*found) {
      Gap below = gap;
      below.high = plan::ValueOf(**found, gap.metric);
      below.fast = above.slow = plan::ValueOf(**found, kLatency);
      Keep(below);
    }
    Keep(above);
    return std::nullopt;
  }

  void Tidy() {
    std::vector<plan::FrontPoint>& points = front_.points;
    std::stable_sort(points.begin(), points.end(),
                     [](const plan::FrontPoint& a, const plan::FrontPoint& b) {
                       return a.plan.totals.latency_cycles < b.plan.totals.latency_cycles;
                     });
    std::vector<plan::FrontPoint> kept;
    for (size_t i = 0; i < points.size(); ++i) {
      bool covered = false;
      for (size_t j = 0; j < points.size() && !covered; ++j) {
        const bool covers = i != j && Covers(points[j].plan.totals, points[i].plan.totals);
        covered = covers && (j < i || !Covers(points[i].plan.totals, points[j].plan.totals));
      }
      if (!covered) kept.push_back(points[i]);
    }
    points = std::move(kept);
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  answer::PartitionOptions options_;
  const tiling::CachedEngines remembering_;
  int most_;
  Front front_;
  std::vector<Gap> gaps_;
  bool left_out_ = false;  // an end of a curve that was not searched
};

}  // namespace

base::Expected<Front> FindFront(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                const answer::PartitionOptions& options, int most_searches) {
  return FrontSearch(graph, profile, options, most_searches).Run();
}

}  // namespace tessera::search::partition::analysis

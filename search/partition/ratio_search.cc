// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/related_search.h"

// A ratio falls when the latency rises, so a search for it can exclude few tiles: of two with
// different latencies, neither is better in every continuation (objective.h), and an interval that
// is not examined has no upper bound of its latency. Such a search is feasible in small networks
// only. So closely related objectives are searched first in all networks:
//
// 1. The weight of a ratio counts for its numerator.
// 2. Only the numerator counts. With a limit on the latency, the least numerator over that limit is
//    the lower bound of the ratio, and a plan with the least numerator exceeds it by the share of
//    the limit that it leaves unused.
// 3. The objective itself, in small networks (paths/ratio_paths.cc). Its searches for paths are cut
//    short after a number of labels. In larger networks, only the plans with which this search
//    begins are rated, such as the previous one.
// 4. The first of these objectives, layer by layer: slow plans may be better by a ratio.
//
// A search for the least numerator under a limit of the ratio would find better plans in larger
// networks, but has as many labels, and found no plan of MobileNetV2 within a minute.
//
// Each plan is rated by the requested objective. It is optimal if the third search proves that, or
// if it meets its lower bound. Cost: a search for each of these objectives.
namespace tessera::search::partition {
namespace {

using problem::Status;

// The third search never finishes in larger networks.
constexpr size_t kMostOperators = 8;

constexpr std::string_view kLeftOut =
    "plans that only a search for the ratio itself would find; the search is for its numerator";

// "energy", or "energy and latency" for a mean.
std::string NamesOf(const plan::Objective& objective) {
  std::vector<std::string_view> names;
  for (const auto& [name, weight] : objective.weights) {
    if (weight > 0) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

// Whether a plan with one subgraph for each operator and without kept tensors can satisfy the
// constraint.
bool IsKeptLayerByLayer(const plan::PlanConstraint& constraint) {
  switch (constraint.kind) {
    case plan::PlanConstraintKind::kTogether:
    case plan::PlanConstraintKind::kKeep:
      return false;
    case plan::PlanConstraintKind::kSubgraph:
      return constraint.interval.first == constraint.interval.last;
    case plan::PlanConstraintKind::kApart:
    case plan::PlanConstraintKind::kSpill:
    case plan::PlanConstraintKind::kAddress:
      return true;
  }
  return false;
}

class RatioSearch {
 public:
  explicit RatioSearch(const RelatedSearch& asked)
      : asked_(asked),
        scale_(asked.Scale()),
        remembering_(
            tiling::Engines(asked.Options().engines.begin(), asked.Options().engines.end())) {}

  base::Expected<answer::PartitionResult> Run() {
    const plan::Objective related = WithoutRatios(scale_.Objective());
    if (auto fault = TryRelated(related)) return base::Unexpected(*std::move(fault));
    if (!best_.plan) return std::move(best_);
    for (const plan::Metric* ratio : plan::kRatioMetrics) {
      if (asked_.IsStopped() || !scale_.Objective().weights.contains(std::string(ratio->name)))
        continue;
      plan::Objective least = related;
      least.weights = {{std::string(NumeratorOf(*ratio)), 1}};
      if (least.weights.size() == related.weights.size()) continue;  // searched before
      if (auto fault = TryRelated(least)) return base::Unexpected(*std::move(fault));
    }
    if (auto fault = Claim()) return base::Unexpected(*std::move(fault));
    if (best_.status != Status::kOptimal && !asked_.IsStopped()) {
      const bool is_small = asked_.Network().operators.size() <= kMostOperators;
      if (auto fault = is_small ? TryItself() : TryKnown())
        return base::Unexpected(*std::move(fault));
      if (auto fault = TryLayerByLayer(related)) return base::Unexpected(*std::move(fault));
    }
    return std::move(best_);
  }

 private:
  answer::PartitionOptions Remembering() const {
    answer::PartitionOptions options = asked_.Options();
    if (options.cached == nullptr) options.cached = &remembering_;
    return options;
  }

  std::optional<base::Diagnostic> TryRelated(const plan::Objective& objective) {
    answer::PartitionOptions options = Remembering();
    options.objective = objective;
    searched_.push_back(NamesOf(objective));
    base::Expected<answer::PartitionResult> found = asked_.Run(options);
    if (!found) return found.error();
    if (!best_.plan || (found->plan && IsBetter(*found->plan))) best_ = *std::move(found);
    return std::nullopt;
  }

  bool IsBetter(const plan::Plan& plan) const {
    return cost::IsLess(scale_.ScoreOf(plan.totals), scale_.ScoreOf(best_.plan->totals));
  }

  bool IsAsGood(const plan::Plan& plan) const {
    return !cost::IsLess(scale_.ScoreOf(best_.plan->totals), scale_.ScoreOf(plan.totals));
  }

  // Turns the best plan into one for the requested objective.
  std::optional<base::Diagnostic> Claim() {
    if (auto fault = asked_.Claim(kLeftOut, best_)) return fault;
    if (!best_.plan->proven) {
      best_.plan->notes.push_back(fmt::format(
          "{} was not minimised itself: this is the best, by it, of the plans of least {}",
          NamesOf(scale_.Objective()), fmt::join(searched_, ", of least ")));
    }
    return std::nullopt;
  }

  // Searches for the objective itself. A proven plan replaces one of equal score.
  std::optional<base::Diagnostic> TryItself() {
    answer::PartitionOptions options = Remembering();
    base::Expected<answer::PartitionResult> found = asked_.Run(options);
    if (!found) return found.error();
    if (!found->plan ||
        (!IsBetter(*found->plan) && !(found->plan->proven && IsAsGood(*found->plan))))
      return std::nullopt;
    Replace(*std::move(found));
    return answer::CheckWellFormed(*best_.plan, asked_.Options().stop);
  }

  // Rates the plans with which a search begins: its work is limited to that.
  std::optional<base::Diagnostic> TryKnown() {
    answer::PartitionOptions options = Remembering();
    options.most_work = std::min<int64_t>(1, options.most_work.value_or(1));
    return TryAsPartOf(options);
  }

  std::optional<base::Diagnostic> TryLayerByLayer(const plan::Objective& objective) {
    const std::vector<plan::PlanConstraint>& constraints = asked_.Options().constraints;
    if (!std::all_of(constraints.begin(), constraints.end(), IsKeptLayerByLayer))
      return std::nullopt;
    answer::PartitionOptions options = Remembering();
    options.objective = objective;
    options.max_operators = 1;
    options.keeping = paths::Keeping::kNothing;
    return TryAsPartOf(options);
  }

  // Runs a search with narrower options. Its plan records the options of the whole search.
  std::optional<base::Diagnostic> TryAsPartOf(const answer::PartitionOptions& options) {
    base::Expected<answer::PartitionResult> found = asked_.Run(options);
    if (!found) return found.error();
    if (!found->plan || !IsBetter(*found->plan)) return std::nullopt;
    plan::Run& run = found->plan->run;
    run.most_work = best_.plan->run.most_work;
    run.max_operators = best_.plan->run.max_operators;
    run.keeps_boundaries = best_.plan->run.keeps_boundaries;
    Replace(*std::move(found));
    return Claim();
  }

  // Replaces the best result, except its layer-by-layer plan.
  void Replace(answer::PartitionResult found) {
    found.plan->baseline = std::move(best_.plan->baseline);
    found.alone = std::move(best_.alone);
    found.alone_for = std::move(best_.alone_for);
    best_ = std::move(found);
  }

  const RelatedSearch& asked_;
  const cost::Scale& scale_;
  const tiling::CachedEngines remembering_;
  std::vector<std::string> searched_;  // the objectives of the searches so far
  answer::PartitionResult best_;
};

}  // namespace

std::string_view NumeratorOf(const plan::Metric& ratio) {
  for (const plan::Metric* metric : plan::kSummedMetrics) {
    if (metric->value == ratio.value) return metric->name;
  }
  return "latency";
}

bool WeighsRatios(const plan::Objective& objective) {
  return std::any_of(objective.weights.begin(), objective.weights.end(), [](const auto& weight) {
    const plan::Metric* metric = plan::FindMetric(weight.first);
    return metric != nullptr && metric->joining == plan::Joining::kRatio;
  });
}

plan::Objective WithoutRatios(plan::Objective objective) {
  for (const plan::Metric* ratio : plan::kRatioMetrics) {
    const std::string name(ratio->name);
    const auto weight = objective.weights.find(name);
    if (weight == objective.weights.end()) continue;
    objective.weights[std::string(NumeratorOf(*ratio))] += weight->second;
    objective.weights.erase(name);
  }
  return objective;
}

base::Expected<answer::PartitionResult> SearchForRatios(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search) {
  const base::Expected<RelatedSearch> asked = RelatedSearch::Make(graph, profile, options, search);
  if (!asked) return base::Unexpected(asked.error());
  return RatioSearch(*asked).Run();
}

}  // namespace tessera::search::partition

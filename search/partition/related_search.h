// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/options_and_result.h"

// Searches for related objectives, whose plans are rated by the requested objective
// (ratio_search.cc, limit_search.cc, sharing_search.cc).
namespace tessera::search::partition {

using SearchFunction = std::function<base::Expected<answer::PartitionResult>(
    const graph::Graph& graph, const answer::PartitionOptions& options)>;

class RelatedSearch {
 public:
  // Returns the errors of Scale::Make. All arguments must outlive the object.
  static base::Expected<RelatedSearch> Make(const graph::Graph& graph,
                                            const hw_profiles::Profile& profile,
                                            const answer::PartitionOptions& options,
                                            const SearchFunction& search);

  const graph::Graph& Network() const { return graph_; }
  const answer::PartitionOptions& Options() const { return options_; }
  const cost::Scale& Scale() const { return scale_; }  // of the requested objective
  bool IsStopped() const { return options_.stop != nullptr && options_.stop->Requested(); }

  base::Expected<answer::PartitionResult> Run(const answer::PartitionOptions& options) const {
    return search_(graph_, options);
  }

  // Whether the plan keeps the requested limits.
  bool KeepsLimits(const plan::Plan& plan) const {
    return scale_.WithinLimits(scale_.CostOf(plan.totals));
  }

  // Whether some plan may keep these limits, according to lower bounds.
  bool MayKeepLimits() const { return scale_.MayKeepLimits(lower_bounds_); }

  // Turns the plan of a related search into one for the requested objective. The plan is optimal if
  // it meets its lower bound; otherwise each part of its scope states `left_out`. Returns an error
  // of the program.
  std::optional<base::Diagnostic> Claim(std::string_view left_out,
                                        answer::PartitionResult& result) const;

 private:
  RelatedSearch(const graph::Graph& graph, const answer::PartitionOptions& options,
                const SearchFunction& search, plan::Metrics lower_bounds, cost::Scale scale);

  const graph::Graph& graph_;
  const answer::PartitionOptions& options_;
  const SearchFunction& search_;
  plan::Metrics lower_bounds_;
  cost::Scale scale_;
};

// Searches for objectives that weigh ratios over time: power, average bandwidth.

// Returns the metric that a ratio divides by the latency.
std::string_view NumeratorOf(const plan::Metric& ratio);

bool WeighsRatios(const plan::Objective& objective);

// Returns the objective with the weights of ratios on their numerators; in a mean, both are
// relative to their bounds. Baselines are the best layer-by-layer plans for this objective, because
// for a ratio alone the slowest tiles would be the best.
plan::Objective WithoutRatios(plan::Objective objective);

// Returns the best plan of several searches (ratio_search.cc), for an objective that weighs ratios.
base::Expected<answer::PartitionResult> SearchForRatios(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search);

// Searches within limits that a plan of a related objective may keep.

// Returns the answer of `search`. If that finds no plan within the limits and does not prove that
// there is none, returns the plan of a related search that keeps them (limit_search.cc), if any.
base::Expected<answer::PartitionResult> SearchForLimits(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search);

// Returns the best plan whose tensors at home share addresses as options.off_chip states
// (sharing_search.cc). For whole tensors, returns the result of `search`.
base::Expected<answer::PartitionResult> SearchForSharing(const graph::Graph& graph,
                                                         const hw_profiles::Profile& profile,
                                                         const answer::PartitionOptions& options,
                                                         const SearchFunction& search);

// Adapts a result without a plan and without a refutation: if it is proven only for whole tensors,
// and not for tensors that share bytes, the status becomes kUnknown.
void ClaimForSharing(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const answer::PartitionOptions& options, answer::PartitionResult& result);

}  // namespace tessera::search::partition

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

}  // namespace tessera::search::partition

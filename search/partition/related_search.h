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

// Searches for other objectives than the one asked for, whose plans are rated by that one
// (ratio_search.cc, limit_search.cc).
namespace tessera::search::partition {

using SearchFunction = std::function<base::Expected<answer::PartitionResult>(
    const graph::Graph& graph, const answer::PartitionOptions& options)>;

class RelatedSearch {
 public:
  // Refuses what Scale::Make refuses. All arguments must outlive the object.
  static base::Expected<RelatedSearch> Make(const graph::Graph& graph,
                                            const hw_profiles::Profile& profile,
                                            const answer::PartitionOptions& options,
                                            const SearchFunction& search);

  const graph::Graph& Network() const { return graph_; }
  const answer::PartitionOptions& Options() const { return options_; }
  const cost::Scale& Scale() const { return scale_; }  // of the objective asked for
  bool IsStopped() const { return options_.stop != nullptr && options_.stop->Requested(); }

  base::Expected<answer::PartitionResult> Run(const answer::PartitionOptions& options) const {
    return search_(graph_, options);
  }

  // Whether the plan keeps the limits asked for.
  bool KeepsLimits(const plan::Plan& plan) const {
    return scale_.WithinLimits(scale_.CostOf(plan.totals));
  }

  // Whether bounds let some plan keep them.
  bool MayKeepLimits() const { return scale_.MayKeepLimits(lower_bounds_); }

  // Turns the plan of a related search into one for the objective asked for. It claims no more than
  // its lower bound shows; otherwise `left_out` is left out of each part of its scope. Returns an
  // error of the program.
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

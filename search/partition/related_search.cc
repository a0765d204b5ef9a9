// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/related_search.h"

#include <utility>

#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/partition/answer/plan_assembly.h"

namespace tessera::search::partition {

RelatedSearch::RelatedSearch(const graph::Graph& graph, const answer::PartitionOptions& options,
                             const SearchFunction& search, plan::Metrics lower_bounds,
                             cost::Scale scale)
    : graph_(graph),
      options_(options),
      search_(search),
      lower_bounds_(std::move(lower_bounds)),
      scale_(std::move(scale)) {}

base::Expected<RelatedSearch> RelatedSearch::Make(const graph::Graph& graph,
                                                  const hw_profiles::Profile& profile,
                                                  const answer::PartitionOptions& options,
                                                  const SearchFunction& search) {
  plan::Metrics lower_bounds =
      cost::FindLowerBounds(encoder::program::WithHomes(graph, profile), profile);
  base::Expected<cost::Scale> scale = cost::Scale::Make(options.objective, lower_bounds);
  if (!scale) return base::Unexpected(scale.error());
  return RelatedSearch(graph, options, search, std::move(lower_bounds), *std::move(scale));
}

std::optional<base::Diagnostic> RelatedSearch::Claim(std::string_view left_out,
                                                     answer::PartitionResult& result) const {
  answer::Rescore(scale_, lower_bounds_, left_out, *result.plan);
  result.status =
      result.plan->status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
  return answer::CheckWellFormed(*result.plan, options_.stop);
}

}  // namespace tessera::search::partition

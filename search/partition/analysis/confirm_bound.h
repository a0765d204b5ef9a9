// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/answer/options_and_result.h"

// Checks the bound of a plan with the independent judge of refusals.
//
// A lower bound L states that no plan is below L. With a limit just below L the network then has no
// plan, which the judge (plan/verify/infeasibility) decides without code of the search. If the plan
// is optimal, L is its value. The judge enumerates little, so it confirms bounds of work and
// traffic, and optima of small networks; other bounds depend on the search.
namespace tessera::search::partition::analysis {

struct BoundConfirmation {
  std::string claim;  // "no plan has latency below 29780"
  bool confirmed = false;
  std::string gap;  // why not; empty if confirmed
};

// Returns whether the judge confirms the bound of a plan whose objective weighs one metric; nullopt
// for other objectives, and for a bound of zero. `options` are those of the search, in the
// numbering of `graph`. Cost: limited to about a second.
std::optional<BoundConfirmation> ConfirmBound(const plan::Plan& plan, const graph::Graph& graph,
                                              const answer::PartitionOptions& options);

}  // namespace tessera::search::partition::analysis

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/answer/options_and_result.h"

// Asks the independent judge of refusals about the bound of a plan.
//
// A lower bound L states that no plan is below L. With a limit just below L the network then has no
// plan, and that is what the judge (plan/verify/infeasibility) decides, without code of the search.
// If the plan is optimal, L is its own value. The judge enumerates little, so it confirms bounds of
// work and traffic, and optima of small networks; elsewhere the bound rests on the search.
namespace tessera::search::partition::analysis {

struct BoundConfirmation {
  std::string claim;  // "no plan has latency below 29780"
  bool confirmed = false;
  std::string gap;  // why not; empty if confirmed
};

// For a plan whose objective weighs one metric; nullopt for others, and for a bound of zero.
// `options` states the question, in the numbering of `graph`. Cost: limited, to about a second.
std::optional<BoundConfirmation> ConfirmBound(const plan::Plan& plan, const graph::Graph& graph,
                                              const answer::PartitionOptions& options);

}  // namespace tessera::search::partition::analysis

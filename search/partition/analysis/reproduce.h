// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/process.h"
#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/tiling/candidate_search.h"

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

// Checks the claims of a plan that only a search can establish: its status, its baseline, and which
// tiles are the largest.
//
// A search is deterministic, and a plan records everything that determines its answer (plan::Run).
// So the check runs the search again and compares. If a plan is called optimal and is not, the
// search finds another one. The check depends on the search itself, as the check of costs depends
// on the simulation (plan_cost.h). It finds claims that were changed or are out of date, not errors
// of the search; to find these, an independent judge checks the bound (ConfirmBound). If no
// search was run, or one was cut off, no search can be repeated, and only claims that follow from
// the lower bound and the whole output are allowed (plan_assembly.h). Cost: that of the search;
// without one, that of the baseline.

struct ReproduceOptions {
  tiling::Engines engines;  // the engines that the plan records, in its order
  const base::Stop* stop = nullptr;
  base::Threads threads = {};  // affects the time, never the result
};

struct Reproduction {
  bool finished = false;  // false: the stop came first, and there is no result
  std::vector<plan::verify::Violation> violations;
  std::optional<BoundConfirmation> bound;  // if there are no violations
};

// Checks a plan that plan::Validate and FindMispriced accept.
Reproduction Reproduce(const plan::Plan& plan, const ReproduceOptions& options);

}  // namespace tessera::search::partition::analysis

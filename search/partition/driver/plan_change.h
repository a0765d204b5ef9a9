// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

// Changes that the search over partitions does not consider. They are tried on the plan that was
// found: constants prefetched (prefetch.cc), two stages (stages.cc).
namespace tessera::search::partition::driver {

// The subgraphs of a changed plan, with their costs, and the boundary tensors kept on chip.
struct PlanChange {
  std::vector<plan::Subgraph> subgraphs;
  std::vector<int> kept;
};

enum class ChangeOutcome : uint8_t { kTaken, kNoGain, kNoRoom, kStopped };

// Places the changed plan as one joint Problem, with the homes and, as hints, the addresses of
// `plan`. If there is a placement, the score is lower and all limits are kept, `plan` takes the
// change over. A change that its program refuses, because a home overflows, has no room.
// `constraints` are those of the plan. Errors are those of the engines.
base::Expected<ChangeOutcome> TryChange(const choices::SearchContext& context,
                                        const constraints::PlanConstraints& constraints,
                                        PlanChange change, plan::Plan& plan);

// Returns the score of these totals without peaks, which only placements determine.
double ScoreWithoutPeaks(const choices::SearchContext& context, plan::Metrics totals);

}  // namespace tessera::search::partition::driver

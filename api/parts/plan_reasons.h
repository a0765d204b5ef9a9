// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/analysis/remedies.h"
#include "tessera/search/partition/answer/options_and_result.h"

namespace tessera::api::parts {

// Why an operator fits nowhere, if that prevents a plan, and single changes that would help.
struct PlanReasons {
  std::optional<api::answers::Collision> collision;
  std::vector<search::partition::analysis::Remedy> remedies;
};

// Finds the reasons after a search without a plan, within 1.7 s. If the deadline of options.stop is
// near or over, the time is at least 40 ms, a part of the allowed delay of the answer. `signal`
// ends the work at once.
PlanReasons FindPlanReasons(const graph::Graph& network, const hw_profiles::Profile& profile,
                            const search::partition::answer::PartitionOptions& options,
                            const search::partition::answer::PartitionResult& result,
                            const EngineSet& engines, std::optional<int64_t> budget,
                            const base::Stop& signal);

// Returns the conflict of a Problem; nullopt if it is not proven infeasible within the budget.
std::optional<api::answers::Collision> ExplainIfProven(const problem::Problem& problem,
                                                       problem::Bytes capacity,
                                                       const EngineSet& engines,
                                                       std::optional<int64_t> budget,
                                                       const base::Stop& stop);

}  // namespace tessera::api::parts

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

// Why an operator fits nowhere, if that is why there is no plan, and single changes that would
// help.
struct PlanReasons {
  std::optional<api::answers::Collision> collision;
  std::vector<search::partition::analysis::Remedy> remedies;
};

// Finds them for a search without a plan, in 1.7 s at most. If the deadline of options.stop is
// near or over, a part of the allowed delay of the answer must do. `signal` ends everything at
// once.
PlanReasons FindPlanReasons(const graph::Graph& network, const hw_profiles::Profile& profile,
                            const search::partition::answer::PartitionOptions& options,
                            const search::partition::answer::PartitionResult& result,
                            const EngineSet& engines, std::optional<int64_t> budget,
                            const base::Stop& signal);

// The conflict of a Problem; nullopt if it is not proven infeasible within the budget.
std::optional<api::answers::Collision> ExplainIfProven(const problem::Problem& problem,
                                                       problem::Bytes capacity,
                                                       const EngineSet& engines,
                                                       std::optional<int64_t> budget,
                                                       const base::Stop& stop);

}  // namespace tessera::api::parts

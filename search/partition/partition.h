// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/search/partition/placement/obstacles.h"
#include "tessera/search/tiling/engine_cache.h"

// From a network and a profile to a plan: which operators form a subgraph, with which tiles, and
// the address of every buffer.
namespace tessera::search::partition {

// Finds the best partition that satisfies the constraints. The operators of the plan's network are
// in the order in which the plan runs them; constraints and obstacles refer to the given graph.
// Operators that constraints hold together keep their order. An error is a bad objective, option or
// constraint, or an error of the program: a plan that the independent validator refuses is never
// returned.
base::Expected<answer::PartitionResult> SearchPartition(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options);

// The cost of a given partition, and the addresses of its buffers.

struct Evaluation {
  // kFeasible: there is a plan, or violations of the profile or the objective. kInfeasible,
  // kUnknown, kUnsupported or kInvalid: `reason` states why there is none.
  problem::Status status = problem::Status::kUnknown;
  std::optional<plan::Plan> plan;
  std::vector<plan::verify::Violation> violations;
  std::string reason;
  std::optional<problem::Problem> infeasible_problem;  // the Problem without a placement, if any
  problem::Bytes capacity = 0;                         // its capacity
};

// Derives problem, metrics and bounds of the draft's partition, places the buffers without an
// address, and checks the plan. An error is a draft that does not form a program, with a JSON
// pointer if an address is wrong; or an error of the program.
base::Expected<Evaluation> Evaluate(const plan::files::Draft& draft,
                                    const answer::EvaluateOptions& options);

}  // namespace tessera::search::partition

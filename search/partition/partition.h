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

// From a network and a profile to a plan: which operators run as one subgraph, with which tiles,
// and where every buffer lies.
namespace tessera::search::partition {

// Finds the best partition that keeps the constraints. Its network has the operators in the order
// in which the plan runs them; constraints and obstacles are about the graph's own. Operators that
// constraints hold together stay in that order. An error is a bad objective, option or constraint,
// or a fault of the program: a plan that its independent validator refuses is never handed out.
base::Expected<answer::PartitionResult> SearchPartition(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options);

// What a partition that somebody wrote down costs, and where its buffers go.

struct Evaluation {
  // kFeasible with a plan, or with violations of what profile and objective ask; kInfeasible,
  // kUnknown, kUnsupported or kInvalid with a reason.
  problem::Status status = problem::Status::kUnknown;
  std::optional<plan::Plan> plan;
  std::vector<plan::verify::Violation> violations;
  std::string reason;
  std::optional<problem::Problem> infeasible_problem;  // where it has no placement: what was asked
  problem::Bytes capacity = 0;                         // and within how many bytes
};

// Derives problem, metrics and bounds of the draft's partition, places what the draft leaves open,
// and checks the plan. An error is a draft that makes no program, with a JSON pointer where an
// address is at fault; or a fault of the program.
base::Expected<Evaluation> Evaluate(const plan::files::Draft& draft,
                                    const answer::EvaluateOptions& options);

}  // namespace tessera::search::partition

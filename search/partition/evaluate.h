#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/plan/draft.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/options_and_result.h"

// What a partition that somebody wrote down costs, and where its buffers go.
namespace tessera::search {

struct Evaluation {
  // kFeasible with a plan, or with violations of what profile and objective ask; kInfeasible, kUnknown, kUnsupported or kInvalid
  // with a reason.
  problem::Status status = problem::Status::kUnknown;
  std::optional<plan::Plan> plan;
  std::vector<plan::Violation> violations;
  std::string reason;
  std::optional<problem::Problem> misfit;  // where it has no placement: what was asked
  problem::Bytes capacity = 0;             // and within how many bytes
};

// Derives problem, metrics and bounds of the draft's partition, places what the draft leaves open, and checks the plan. An error is
// a draft that makes no program, with a JSON pointer where an address is at fault; or a fault of the program.
base::Expected<Evaluation> Evaluate(const plan::Draft& draft, const EvaluateOptions& options);

}  // namespace tessera::search

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
#include "tessera/search/tiling/ladder_search.h"

// What a partition that somebody wrote down costs, and where its buffers go.
namespace tessera::search {

struct EvaluateOptions {
  Engines engines;                        // in the order in which they are asked; they outlive the evaluation
  std::vector<std::string> switched_off;  // rules of the engines, recorded in the plan
  base::Budget budget;                    // for each question put to an engine
  const base::Stop* stop = nullptr;
  int threads = 1;        // change the time taken, never the plan
  std::string version;    // of the program, recorded in the plan
  bool may_move = false;  // addresses are tried first, and given up where they do not fit
};

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

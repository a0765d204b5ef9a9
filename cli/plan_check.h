#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/execute/execute.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/plan.h"

namespace tessera::cli {

// What `tessera check` finds out about a plan.
struct PlanVerdict {
  std::vector<std::string> violations;                // "metric: ..."; empty: accepted
  std::optional<plan::execute::Report> execution;     // where it was asked for
  std::optional<plan::lowering::Report> interpreted;  // likewise, where the plan has a lowering
  std::string obstacle;  // why it is beyond an execution; empty: it is not
  bool searched_again =
      false;  // else what only a search can tell was not compared: it was not asked for, or something else is wrong
  bool interrupted = false;  // before the search ended
};

struct PlanCheckOptions {
  bool execute = false;
  bool search = true;
  int threads = 1;
  base::Stop* stop = nullptr;  // of the search
};

// Holds every entry of the plan that is not exempt (plan/files/plan_files.h) against what it must
// be. First what is derived and priced, then the digest, then the execution and the lowering; where
// nothing is wrong so far, the search is run again. The plan is one that was read from a file.
PlanVerdict CheckPlan(const plan::Plan& plan, const PlanCheckOptions& options);

}  // namespace tessera::cli

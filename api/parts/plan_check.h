// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/stop.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/analysis/reproduce.h"

namespace tessera::api::parts {

enum class LoweringOutcome : uint8_t {
  kLowered,
  kStopped,  // the stop came before the end
  kRefused,  // the plan cannot be lowered, or its lowering cannot be run
  kWrong,    // the interpreter has a finding: an error of this program
};

struct CheckedLowering {
  LoweringOutcome outcome = LoweringOutcome::kLowered;
  std::optional<plan::Program> program;  // kLowered
  base::Diagnostic why;                  // of all other outcomes
};

// Lowers the plan and runs the lowering with the interpreter (plan/lowering/interpret.cc), which
// shares no code with the lowering. Cost: both are linear in the rows and cells touched.
CheckedLowering LowerAndRun(const plan::Plan& plan, const base::Stop& stop);

// The result of the check of a plan.
struct PlanVerdict {
  std::vector<std::string> violations;                // "metric: ..."; empty: accepted
  std::optional<plan::lowering::Report> execution;    // if it was requested
  std::optional<plan::lowering::Report> interpreted;  // if requested and the plan has a lowering
  std::string obstacle;  // why the plan cannot be executed; empty if it can
  bool searched_again =
      // false: claims that only a search can establish were not compared, because that was not
      // requested or another check failed
      false;
  std::optional<search::partition::analysis::BoundConfirmation> bound;  // if searched again
  std::string cut_off;  // the work that the stop cut off: "while ..."; empty: none
};

struct PlanCheckOptions {
  bool execute = false;
  bool search = true;
  base::Threads threads = {};
  // Calls `part`, which may take long and polls the stop. Empty: the part is called directly.
  std::function<void(const std::function<void()>& part)> around;
};

// Checks every entry of the plan that is not exempt (plan/files/plan_files.h): first the derived
// values and costs, then the digest, then the execution and the lowering. If there is no error so
// far, runs the search again. The stop ends the execution and the search. The plan must have been
// read from its file format, which states a digest.
PlanVerdict CheckPlan(const plan::Plan& plan, const PlanCheckOptions& options, base::Stop& stop);

}  // namespace tessera::api::parts

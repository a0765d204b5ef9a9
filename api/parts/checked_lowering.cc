// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/checked_lowering.h"

#include <string>
#include <utility>

#include "tessera/plan/lowering/lowering.h"

namespace tessera::api::parts {
namespace {

CheckedLowering Without(LoweringOutcome outcome, std::string message) {
  CheckedLowering lowering;
  lowering.outcome = outcome;
  lowering.why.message = std::move(message);
  return lowering;
}

}  // namespace

CheckedLowering LowerAndRun(const plan::Plan& plan, const base::Stop& stop) {
  plan::Plan lowered = plan;
  base::Expected<plan::Program> program = plan::lowering::Lower(plan, stop);
  if (!program) {
    return Without(stop.Requested() ? LoweringOutcome::kStopped : LoweringOutcome::kRefused,
                   program.error().message);
  }
  lowered.lowering = *std::move(program);
  const plan::lowering::Report run = plan::lowering::Interpret(lowered, plan.seed, stop);
  if (!run.findings.empty())
    return Without(LoweringOutcome::kWrong, "the lowering is wrong: " + run.findings[0].message);
  if (run.is_cut_off)
    return Without(LoweringOutcome::kStopped, "the lowering was stopped before all of it was run");
  if (!run.obstacle.empty())
    return Without(LoweringOutcome::kRefused, "the lowering cannot be run: " + run.obstacle);
  return {LoweringOutcome::kLowered, std::move(lowered.lowering), {}};
}

}  // namespace tessera::api::parts

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

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

}  // namespace tessera::api::parts

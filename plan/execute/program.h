#pragma once

#include <functional>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::execute {

// The plan's program, instruction by instruction, as docs/program.md says: every step in order,
// every tile, loops unrolled. Steps, transfers, buffers, offsets and modes are the plan's word;
// what tiles need follows from the network. The plan has no obstacle. Cost: that of a few
// instructions for each operator, tile and slice; none is kept.
void Unroll(const Plan& plan, const Contents& contents,
            const std::function<void(const Instruction&)>& run);

}  // namespace tessera::plan::execute

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::execute {

// Returns why the plan cannot be converted to instructions, in words; empty if it can. Refuses
// plans that plan::verify::Validate or the reader of plans would refuse: indices out of range,
// lists of different length, steps that are no program. Also refuses plans that an execution cannot
// hold: too many elements, tiles or bytes, and constants with a custom encoding.
std::string FindObstacle(const Plan& plan);

// One past the highest byte of all buffers; at least 0. The plan has one offset for each buffer.
int64_t EndOfBuffers(const Plan& plan);

// The operators of the plan's subgraphs.
graph::Interval ProgramOf(const Plan& plan);

// Whether the tensor is a state whose value is the same in the next run as in this one.
bool StaysInPlace(const Plan& plan, const std::vector<verify::Users>& users, int tensor);

// Calls `run` with the plan's program, instruction by instruction, as docs/program.md defines it:
// every step in order, every tile, loops unrolled. Steps, transfers, buffers, offsets and modes
// come from the plan; the regions of tiles follow from the network. Ends early when `run` returns
// false. FindObstacle finds nothing in the plan. Cost: a few instructions for each operator, tile
// and slice; none is stored.
void Unroll(const Plan& plan, const Contents& contents,
            const std::function<bool(const Instruction&)>& run);

}  // namespace tessera::plan::execute

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

// Why the plan cannot be turned into instructions at all, in words; empty if it can. What
// plan::verify::Validate or the reader of plans would refuse: indices out of range, lists of
// different length, steps that are no program. And what an execution cannot hold or follow: too
// many elements, tiles or bytes, constants in an encoding of their own.
std::string FindObstacle(const Plan& plan);

// One past the highest byte of all buffers; at least 0. As many offsets as buffers.
int64_t EndOfBuffers(const Plan& plan);

// The operators of the plan's subgraphs.
graph::Interval ProgramOf(const Plan& plan);

// Whether the tensor is a state, and the next run finds the same value of it as this one.
bool StaysInPlace(const Plan& plan, const std::vector<verify::Users>& users, int tensor);

// The plan's program, instruction by instruction, as docs/program.md says: every step in order,
// every tile, loops unrolled. Steps, transfers, buffers, offsets and modes are the plan's word;
// what tiles need follows from the network. Ends early once `run` returns false. The plan has no
// obstacle. Cost: that of a few instructions for each operator, tile and slice; none is kept.
void Unroll(const Plan& plan, const Contents& contents,
            const std::function<bool(const Instruction&)>& run);

}  // namespace tessera::plan::execute

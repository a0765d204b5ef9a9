#pragma once

#include <cstdint>
#include <string>

#include "tessera/plan/plan.h"

namespace tessera::plan::execute {

// Why the plan cannot be turned into instructions at all, in words; empty if it can. What
// tessera::plan::Validate or the reader of plans would refuse: indices out of range, lists of
// different length, steps that are no program. And what an execution cannot hold or follow: too
// many elements, tiles or bytes, constants in an encoding of their own.
std::string FindObstacle(const Plan& plan);

// One past the highest byte of all buffers; at least 0. As many offsets as buffers.
int64_t EndOfBuffers(const Plan& plan);

}  // namespace tessera::plan::execute

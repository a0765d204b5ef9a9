// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::encoder {

// Whether a memory may change its mode between steps, or must keep one for all of them.
enum class ModeChanges : uint8_t { kAllowed, kForbidden };

// An oracle for tiny Problems that shares no code with engines or validator. It tries every offset
// of every buffer, byte by byte, and every schedule. It returns the first answer in lexicographic
// order of offsets, or nullopt when there is none. Cost: capacity to the power of buffers, times
// schedules; a branch ends where two placed buffers already disagree.
std::optional<problem::Allocation> Enumerate(const problem::Problem& problem,
                                             problem::Bytes capacity,
                                             ModeChanges changes = ModeChanges::kAllowed);

// The least total of the problem's costs, computed from their definitions over all offsets and all
// schedules; nullopt when there is no answer. Cost: that of an infeasible Problem.
std::optional<int64_t> EnumerateLeastCost(const problem::Problem& problem, problem::Bytes capacity);

}  // namespace tessera::encoder

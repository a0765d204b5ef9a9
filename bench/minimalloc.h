// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/problem/problem.h"

namespace tessera::bench {

// Runs MiniMalloc's program at `path` on the Problem, with its capacity, for at most `seconds`.
// Returns milliseconds from start to end of the process, including its reading and writing of
// files; nullopt if a buffer is misplaced or CSV cannot state the Problem. A program that does not
// stop by itself is killed soon after.
std::optional<double> RunMiniMalloc(const std::string& path, problem::Problem question,
                                    double seconds);

}  // namespace tessera::bench

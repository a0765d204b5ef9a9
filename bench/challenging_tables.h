// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/bench/measure.h"

// Tables about MiniMalloc's challenging problems A to K, a common benchmark of allocators.
namespace tessera::bench {

// Returns A to K, from arguments.data or its folder 'challenging'. Returns nullopt, with a message
// on stderr, if a file is missing or is not CSV.
std::optional<std::vector<problem::Problem>> ReadChallenges(const Arguments& arguments);

// Decides each of them at 1 048 576 bytes, and runs MiniMalloc too if its program is given.
void PrintDecided(const std::vector<problem::Problem>& challenges, const Arguments& arguments);

// Prints the total over A to K for seeds 0 to 10, with time as given and reversed.
void PrintSeeds(const std::vector<problem::Problem>& challenges, int runs);

// Prints the least peak found on two threads.
void PrintMinimal(const std::vector<problem::Problem>& challenges, double seconds);

// Prints the times of the same work on one thread and on two, and whether the answers are the same.
// Some of the problems are generated.
void PrintSpeedUp(const std::vector<problem::Problem>& challenges);

// Prints how long after its deadline a call returns.
void PrintDeadlines(const std::vector<problem::Problem>& challenges);

}  // namespace tessera::bench

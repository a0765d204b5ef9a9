// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/search/allocate/several_memories.h"

// Memories of a Problem by name: their capacities, and which of their peaks are minimised. Messages
// begin with `option`, the name that the user knows.
namespace tessera::api::parts {

using NamedCapacity = std::pair<std::string, problem::Bytes>;
using NamedWeight = std::pair<std::string, double>;

// The range of weights and of limits. Sums and quotients of such numbers and of metrics stay far
// within the range of a double.
inline constexpr double kLeastWeight = 1e-100;
inline constexpr double kMostWeight = 1e100;

// These names stand alone, with the weight 1, instead of memories: the sum of all peaks, or of each
// peak over its lower bound.
inline constexpr std::string_view kSumOfPeaks = "sum";
inline constexpr std::string_view kRelativePeaks = "relative";

// Returns the index of the memory with this name.
base::Expected<size_t> FindMemory(const problem::Problem& problem, const std::string& name,
                                  std::string_view option);

// Sets the capacities. A memory may be named once.
std::optional<base::Diagnostic> SetCapacities(problem::Problem& problem,
                                              const std::vector<NamedCapacity>& capacities,
                                              std::string_view option);

// Returns the objective that `weights` state; nullopt if that is the peak of the first memory
// alone. Weights must lie within the range above. A memory may be named once.
base::Expected<std::optional<search::allocate::PeakObjective>> FindObjective(
    const problem::Problem& problem, const std::vector<NamedWeight>& weights,
    std::string_view option);

}  // namespace tessera::api::parts

#pragma once

#include <optional>
#include <vector>

#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::search {

// A Problem in which buffers that always coincide are one.
struct MergedProblem {
  problem::Problem problem;
  problem::Ladder ladder;
  std::vector<size_t> merged_into;  // by buffer of the original, its index in `problem`
};

// Merges what can be merged without a change of meaning; nullopt when nothing can. See merge_colocated.cc.
std::optional<MergedProblem> MergeColocated(const problem::Problem& problem, const problem::Ladder& ladder);

// The allocation of the original that an allocation of the merged Problem stands for.
problem::Allocation Unmerge(const MergedProblem& merged, problem::Allocation allocation);

}  // namespace tessera::search

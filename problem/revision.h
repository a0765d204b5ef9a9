// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"

// Changes of the buffers of a Problem, as a compiler makes them between two allocations.
namespace tessera::problem {

struct Revision {
  std::vector<Buffer> add = {};
  std::vector<std::string> remove = {};                    // by id
  std::vector<std::pair<std::string, Bytes>> resize = {};  // by id: the new size
};

struct RevisedProblem {
  Problem problem;          // the buffers that stay, in their order, then the new ones
  std::vector<int> former;  // by buffer: its index before, or -1 if it is new
  std::vector<bool> same;   // by buffer: whether it existed with the same size
  // If true, a placement of the revised problem without the new buffers is a placement of the
  // former problem, so lower bounds of the former peak still hold.
  bool only_demands_more = false;
};

// Applies the revision. Relations, costs and parts of rules that name a removed buffer are removed
// too. Refuses an id that does not exist or is changed twice, and a result that is not well formed.
// `problem` is well formed. Cost: O(n log n).
base::Expected<RevisedProblem> Revise(const Problem& problem, const Revision& revision);

}  // namespace tessera::problem

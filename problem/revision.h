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
  std::vector<std::pair<std::string, Bytes>> resize = {};  // by id, to so many bytes
};

struct RevisedProblem {
  Problem problem;          // the buffers that stay, in their order, then the new ones
  std::vector<int> former;  // by buffer: its index before, or -1 if it is new
  std::vector<bool> same;   // by buffer: whether it was there with the same size
  // Whether a placement of the revised problem, without the new buffers, is one of the problem
  // before. Then a lower bound of its peak still holds.
  bool only_demands_more = false;
};

// A buffer that is removed takes along the relations, pairs of rules and costs that name it. A
// fault names an id that does not exist, is named twice, or whose new size contradicts the rest.
// `problem` is well formed. Cost: O(n log n).
base::Expected<RevisedProblem> Revise(const Problem& problem, const Revision& revision);

}  // namespace tessera::problem

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "tessera/problem/well_formed_faults.h"

// Checks that every loop has steps and exits, and that two loops are disjoint or one lies inside
// the other.
namespace tessera::problem {
namespace {

using base::kMaxTotal;

Fault CheckLoop(const Loop& loop, const std::string& pointer) {
  if (loop.begin >= loop.end) {
    return FaultAt(pointer, fmt::format("the loop [{}, {}) is empty", loop.begin, loop.end),
                   "begin < end");
  }
  if (loop.begin < -kMaxTotal || loop.end > kMaxTotal)
    return FaultAt(pointer, "a step is beyond 2^62");
  if (loop.exits.empty())
    return FaultAt(pointer + "/exits", "the loop never ends", "at least one exit");
  for (size_t i = 0; i < loop.exits.size(); ++i) {
    const std::string at = fmt::format("{}/exits/{}", pointer, i);
    if (loop.exits[i] <= loop.begin || loop.exits[i] > loop.end) {
      return FaultAt(at, fmt::format("exit {} is outside the loop", loop.exits[i]),
                     "begin < exit <= end");
    }
    if (i > 0 && loop.exits[i - 1] >= loop.exits[i])
      return FaultAt(at, "exits are not in order", "ascending exits");
  }
  return std::nullopt;
}

// Checks two loops. `first` begins earlier or, if both begin together, ends later.
Fault CheckLoopPair(const Loop& first, const Loop& second, const std::string& pointer) {
  if (second.begin >= first.end) return std::nullopt;
  if (second.end > first.end)
    return FaultAt(pointer, "two loops cross", "loops that are disjoint or nested");
  if (second.begin == first.begin && second.end == first.end)
    return FaultAt(pointer, "the same loop is given twice");
  if (second.end == first.end && second.exits != std::vector<Step>{second.end}) {
    return FaultAt(pointer + "/exits",
                   "an inner loop that ends with its outer loop exits elsewhere",
                   fmt::format("{} as its only exit", second.end));
  }
  return std::nullopt;
}

}  // namespace

std::optional<base::Diagnostic> CheckWellFormedLoops(const Problem& problem) {
  std::vector<size_t> order(problem.loops.size());
  for (size_t i = 0; i < problem.loops.size(); ++i) {
    if (Fault fault = CheckLoop(problem.loops[i], fmt::format("/loops/{}", i))) return fault;
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Loop& x = problem.loops[a];
    const Loop& y = problem.loops[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
  });
  std::vector<size_t> enclosing;
  for (const size_t current : order) {
    const Loop& loop = problem.loops[current];
    while (!enclosing.empty() && problem.loops[enclosing.back()].end <= loop.begin)
      enclosing.pop_back();
    for (const size_t outer : enclosing) {
      if (Fault fault =
              CheckLoopPair(problem.loops[outer], loop, fmt::format("/loops/{}", current)))
        return fault;
    }
    enclosing.push_back(current);
  }
  return std::nullopt;
}

}  // namespace tessera::problem

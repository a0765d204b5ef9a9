#pragma once

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {

// A stretch of a longer program, for looking at it.
struct Window {
  Problem problem;
  Allocation allocation;
};

// The part of `problem` and its `allocation` within the steps [lower, upper): buffers that live there with
// their lifespans and accesses clipped, the memories with their modes, the loops that lie inside. Relations,
// rules and costs are left out. The allocation has the shape that the problem asks for. Steps keep their numbers.
Window CutWindow(const Problem& problem, const Allocation& allocation, Step lower, Step upper);

}  // namespace tessera::problem

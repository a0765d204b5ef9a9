#pragma once

#include <cstddef>
#include <vector>

#include "tessera/plan/holdings.h"

namespace tessera::plan {

// Whether tiles of the interval may divide this axis of its last operator's first output:
// docs/program.md, "Axes that may be cut". Where an operator does not tell which axes of its
// operands follow which axes of its result, it counts as if all may; so true may be said of an axis
// that may not be cut, and false is certain. Cost: linear in the operands of the interval.
bool MayCut(const graph::Graph& network, const std::vector<Users>& users, graph::Interval interval,
            size_t axis);

}  // namespace tessera::plan

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/needed_boxes.h"

namespace tessera::plan::verify::infeasibility {

// A lower bound of the latency of every plan, from constants that the tile memory cannot hold
// before they are used. `needed`: by tensor, a box that every plan makes. `reads`: by operator and
// operand, the box that it reads without gaps for the box of its result. `cycles`: the least time
// of each operator. Cost: operators times their operands, for each operator with constants.
int64_t LatencyWithLateConstants(const Plan& plan, const Boxes& needed,
                                 const std::vector<Boxes>& reads,
                                 const std::vector<int64_t>& cycles);

// The bytes of a constant without the table that is stored with it, because K slices are loaded
// without tables.
int64_t BytesWithoutTable(const graph::Tensor& constant);

}  // namespace tessera::plan::verify::infeasibility

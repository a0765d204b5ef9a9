// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/execute/contents.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::lowering {

// Bytes of one element of an operand of that operator (-1: none). Scratch and tables count bytes.
int64_t ElementBytes(const graph::Graph& network, int op, const Operand& operand);

// The bytes of an operator's region, including stored pads, as ascending disjoint ranges. `box`
// gives the extents: the region itself, but for a kTo the preceding kFrom. The result is the region
// alone, even if the job fills the whole buffer. Cost: the rows of bytes.
std::vector<problem::AddressRange> BytesOf(const graph::Graph& network, int op,
                                           const Operand& operand, const FixedRegion& region,
                                           const FixedRegion& box, int64_t spot_address);

// The location of a tensor in its home, in cells (execute::Contents), which are bytes in every plan
// that can be lowered.
struct HomeLocation {
  int memory = 0;
  int64_t address = 0;
  int64_t table = 0;             // address of a constant's table
  std::vector<int64_t> strides;  // for each axis
};

// Returns nullopt if the tensor has no address outside the tile memory. Pads are not stored there.
std::optional<HomeLocation> FindAtHome(const Plan& plan, const execute::Contents& contents,
                                       int tensor);

}  // namespace tessera::plan::lowering

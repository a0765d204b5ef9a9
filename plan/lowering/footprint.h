#pragma once

#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/lowering/program.h"
#include "tessera/problem/address.h"

namespace tessera::plan::lowering {

// Bytes of one element of an operand of that operator (-1: of none); scratch and tables count bytes.
int64_t ElementBytes(const graph::Graph& network, int op, const Operand& operand);

// The bytes of an operator's region, pads that are stored included, ascending and apart. `box` gives the extents: the region itself, but for a
// kTo the kFrom before it. Whole buffers that are begun anew are not told from their regions here. Cost: the rows of bytes.
std::vector<problem::AddressRange> BytesOf(const graph::Graph& network, int op, const Operand& operand,
                                           const FixedRegion& region, const FixedRegion& box,
                                           int64_t spot_address);

}  // namespace tessera::plan::lowering

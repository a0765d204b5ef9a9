#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/holdings.h"

namespace tessera::plan::refutation {

// Bytes of the tile memory that some step of a subgraph needs, whatever its weights and results in
// place: its tiles and halo count, and that nothing is held by depth. `index` is that of the
// subgraph among plan.subgraphs. Cost: the tiles, once.
int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index);

}  // namespace tessera::plan::refutation

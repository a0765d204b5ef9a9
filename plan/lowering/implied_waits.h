#pragma once

#include <vector>

#include "tessera/plan/lowering/dependencies.h"

namespace tessera::plan::lowering {

// Drops waits without which every deed still comes after all that it depends on: what a job must await for one tile, and so awaits
// for all, may make another wait needless. Reuse goes before data. Cost: waits times deeds; where that is too much, nothing is
// dropped.
void DropImpliedWaits(const std::vector<Deed>& deeds,
                      const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs);

}  // namespace tessera::plan::lowering

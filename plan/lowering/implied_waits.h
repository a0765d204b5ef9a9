#pragma once

#include <vector>

#include "tessera/plan/lowering/dependencies.h"

namespace tessera::plan::lowering {

// Whether all waits are for deeds that stand before those that wait, so that they can be kept.
bool LookBack(const std::vector<Deed>& deeds, const std::vector<Job>& jobs);

// Drops waits without which every deed still comes after all that it depends on: what a job must await for one tile, and so awaits
// for all, may make another wait needless. Reuse goes before data. All of them look back. Cost: waits times deeds; where that is too much, nothing is
// dropped.
void DropImpliedWaits(const std::vector<Deed>& deeds,
                      const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs);

}  // namespace tessera::plan::lowering

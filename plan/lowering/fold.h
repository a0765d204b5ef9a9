#pragma once

#include <vector>

#include "tessera/plan/lowering/dependencies.h"
#include "tessera/plan/lowering/record.h"

// From runs to rules: what runs of a job have in common is said once.
namespace tessera::plan::lowering {

// Classes of the tiles of `loops`, and what runs once, from all deeds. Cost: numbers of all regions times loops.
void FoldTiles(const std::vector<Deed>& deeds, Lowered& lowered);

// Waits of the jobs: whatever one run waits for, all of its job's do, for as many tiles before. Where there is no such tile
// or run, nobody waits. This asks for no less than the dependencies do, and never for what comes later.
void FoldWaits(const std::vector<Deed>& deeds, const std::vector<std::vector<Dependency>>& dependencies,
               std::vector<Job>& jobs);

}  // namespace tessera::plan::lowering

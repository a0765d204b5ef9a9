#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/lowering/program.h"

namespace tessera::plan::lowering {

// The region for one tile and round: `indices` counts trips of the loops from the first of the class, `round` from the first of the
// work. Numbers have as many steps as there are indices, or none; none is beyond 2^40.
FixedRegion Evaluate(const Region& region, const std::vector<int64_t>& indices, int64_t round);

// One run of a job.
struct Run {
  int job = 0;
  int64_t tile = -1;  // -1: before the tiles
  int64_t round = 0;
  std::vector<FixedRegion> regions;
  std::vector<int> before;  // runs that it waits for
};

// The runs of a lowered subgraph in the order in which they are stated, with what they wait for; nullopt where runs and waits are
// more than `most`. `faults` gets what contradicts itself, in words.
std::optional<std::vector<Run>> UnrollRuns(const Lowered& lowered, int64_t most,
                                           std::vector<std::string>& faults);

}  // namespace tessera::plan::lowering

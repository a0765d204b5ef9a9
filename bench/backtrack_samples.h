// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/search/engines/guided/backtracking.h"

namespace tessera::bench {

// A target of a major backtrack and how good it was.
struct BacktrackSample {
  search::engines::guided::Features features = {};
  float score = 0;
};

// Samples for a policy of backtracking, by imitation (TelaMalloc: Maas et al. 2023, section 6.3).
// The engine "guided" solves drawn Problems without restarts. At major backtracks an exact engine,
// the lazy one, finds the deepest point that is still solvable, *the least return* M. Half of the
// backtracks go there, the others where the default policy goes, so that the samples cover good and
// bad states. When a placement is found, the deepest point whose placements are all part of it is
// *the best return* B. The score of the target at point x is
//
//     0                                if x < B or x > M
//     10 - 5 * (x - B) / (M - B + 1)   else
//
// Problems are of the families perfect, broken, log-uniform and compiler-like, at the lowest known
// peak and at 1.02 and 1.05 times that, with each recipe of the engine, and with two of them
// without lessons. Searches end after so many dead ends, oracles after so many conflicts; there is
// no clock, so the same seeds give the same samples on every machine.
std::vector<BacktrackSample> CollectBacktrackSamples(uint64_t first_seed, uint64_t seeds);

}  // namespace tessera::bench

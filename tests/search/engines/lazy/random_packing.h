// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::encoder {

// A well-formed Problem of 2 to 6 buffers, small enough to enumerate, with everything that the lazy
// engine honours. About every second one is infeasible at the capacity of memories[0].
problem::Problem DrawPacking(base::Random& random);

// Two to four candidates for it, growing buffer by buffer, so that each dominates those before.
problem::Ladder DrawLadder(base::Random& random, const problem::Problem& problem);

// Draws every switch.
search::engines::lazy::LazyOptions DrawOptions(base::Random& random);

}  // namespace tessera::encoder

#pragma once

#include "tessera/base/random.h"
#include "tessera/encoder/lazy/options.h"
#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// A well-formed Problem of 2 to 6 buffers, small enough to enumerate, with everything that the lazy engine
// honours; about every second one is infeasible at the capacity of memories[0].
problem::Problem DrawPacking(base::Random& random);

// Two to four rungs for it, growing buffer by buffer, so that each dominates those before.
problem::Ladder DrawLadder(base::Random& random, const problem::Problem& problem);

// Every switch drawn.
LazyOptions DrawOptions(base::Random& random);

}  // namespace tessera::encoder

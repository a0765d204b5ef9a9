// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/problem/problem.h"

namespace tessera::bench {

// Whether first fit solves a Problem with modes in any of five orders. It places each buffer at the
// least offset at which every step of its life keeps a mode that serves all buffers placed so far.
// It shows which instances need a search. It supports spans, banks and modes of a single memory
// whose modes may follow each other freely, and nothing else.
bool GreedySolvesBanked(const problem::Problem& problem);

}  // namespace tessera::bench

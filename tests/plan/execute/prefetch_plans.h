// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/base/random.h"
#include "tessera/plan/plan.h"

// Plans whose constants arrive before their subgraphs begin.
namespace tessera::plan::execute {

// Two convolutions of 10 rows in tiles of 2, each in its own subgraph, with transfers that overlap
// compute; wb is prefetched:
//
//     step   0 P | 1 a | 2 a | 3 E | 4 P | 5 b | 6 b | 7 E
//
// Both loops leave after the even tiles; wb lives in [1, 2) and [3, 7).
Plan Prefetched();

// The same partition with transfers that overlap compute, more resident weights and some prefetched
// ones; nullopt where none can be prefetched, or nothing fits.
std::optional<Plan> DrawPrefetches(base::Random& random, const Plan& plan);

}  // namespace tessera::plan::execute

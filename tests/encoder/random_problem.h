// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// A well-formed Problem small enough to enumerate: 2 to 6 buffers, up to 6 steps, up to 3 banks and
// 3 modes, one or two memories, with every kind of constraint that a Problem can state. Chains of
// operators (some buffers read, one written at each step) make modes matter. The capacity of
// memories[0] is the capacity in question.
problem::Problem DrawProblem(base::Random& random);

// Adds one to three costs, of reuse and of mode switches where a memory has modes; weights from 0
// to 5.
void DrawCosts(base::Random& random, problem::Problem& problem);

}  // namespace tessera::encoder

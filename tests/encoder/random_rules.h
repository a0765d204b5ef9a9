// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// Adds `count` rules of uniformly drawn kinds to a Problem that has its memories and buffers; a
// draw that fits nothing adds none. Some of their numbers are multiples of `scale` and some are
// not, which tests the units of addresses.
void DrawRules(base::Random& random, int64_t count, problem::Bytes scale,
               problem::Problem& problem);

}  // namespace tessera::encoder

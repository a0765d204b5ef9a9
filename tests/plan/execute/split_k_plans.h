// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/base/random.h"
#include "tessera/plan/plan.h"

// Plans with split-k operators.
namespace tessera::plan::execute {

// y [6, 4] = x [6, 10] times w [10, 4] in tiles of 2 rows. K is cut into slices of 4, 4 and 2.
// There is a table of two bytes for each column and a step for each transfer. Every buffer has its
// own address. Tensors: 0 x, 1 w, 2 y.
//
//     step   0 load x | 1 load w | 2 multiply | 3 store y
//            [0, 3) runs three times for each of three tiles
Plan SplitKSerialized();

// The same in six tiles of 1 row, with transfers that overlap compute and five slices along K:
//
//     step   0 P | 1 multiply | 2 multiply | 3 E
Plan SplitKDoubleBuffered();

// A random sum (tests/graph/random_sum.h) on a random accelerator, in random tiles and slices;
// nullopt where the draw is no program.
std::optional<Plan> DrawSplitKPlan(base::Random& random);

}  // namespace tessera::plan::execute

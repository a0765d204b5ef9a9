// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/engines/guided/backtracking.h"
#include "tessera/search/engines/guided/boosted_trees.h"

namespace tessera::search::engines::guided {

// Returns the compiled-in model, made by bench/train_backtracking. It scores a target by its
// features.
BoostedTrees BacktrackingModel();

// Returns the policy of the model. It picks the target of the highest score, weighted by depth so
// that a return far up needs a higher score. Below a threshold the default policy decides
// (TelaMalloc: Maas et al. 2023, section 6.5). Cost: one score for each target.
Backtracking LearnedBacktracking();

}  // namespace tessera::search::engines::guided

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/engines/guided/backtracking.h"
#include "tessera/search/engines/guided/boosted_trees.h"

namespace tessera::search::engines::guided {

// The compiled-in model, made by bench/train_backtracking: the score of a target from its features.
BoostedTrees BacktrackingModel();

// The policy of the model: the target of the highest score, weighted by its depth so that a return
// far up needs more confidence. Below a threshold the default policy decides (TelaMalloc: Maas et
// al. 2023, section 6.5). Cost: one score for each target.
Backtracking LearnedBacktracking();

}  // namespace tessera::search::engines::guided

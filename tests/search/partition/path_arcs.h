// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/paths/label_search.h"

// Arcs for tests of the search for the best path, and every path over them.
namespace tessera::search {

// An objective whose metrics have lower bounds of 1.
cost::Scale ScaleOf(const plan::Objective& objective);

partition::paths::Arc ArcOf(int begin, int end, size_t choice, double score, double peak = 0);

// Calls `visit` with the positions of the arcs of each path from state 0 to `last`.
void ForEachPath(int last, std::span<const partition::paths::Arc> arcs,
                 const std::function<void(const std::vector<size_t>&)>& visit);

}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>

#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/paths/label_search.h"

namespace tessera::search::partition::paths {

// FindBestPath for an objective that weighs only ratios over the latency (Scale::WeighsOnlyRatios).
std::optional<Path> FindBestRatioPath(const cost::Scale& scale, const ArcLists& arcs,
                                      std::span<const Forbidden> forbidden, PathLook& look);

}  // namespace tessera::search::partition::paths

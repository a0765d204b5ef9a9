// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/search/off_chip/place.h"

namespace tessera::search::partition::placement {

// Addresses that tensors must have at home, by the names of the memory and of the tensor.
using HomePins = std::map<std::pair<std::string, std::string>, problem::Bytes>;

// Places the plan's homes again, so that tensors share addresses tile by tile (options.method), and
// notes the gain in the plan. A home keeps its placement if it has banks or too many chunks
// (encoder/program/home_tiles.h), or if no lower placement was found; a note states why. Pins of
// the plan's constraints are kept too. The caller must compute the score again. Cost: the tiles of
// the plan, and the engines' budget.
base::Expected<void> PlaceHomesByTiles(plan::Plan& plan, const HomePins& pins,
                                       const off_chip::PlaceOptions& options);

}  // namespace tessera::search::partition::placement

#pragma once

#include <optional>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// Looks for buffers that orders and ties ask to lie above themselves, among those whose least
// offsets rose since the change numbered `start` of the trail, or among all. Where it finds some,
// the orders are the trail's conflict, and it gives false. Cost: O(buffers * orders and ties among
// them) at worst.
bool RefuteCycle(const Packing& packing, const Axis& axis, std::optional<int> start);

}  // namespace tessera::encoder::lazy

#pragma once

#include <optional>
#include <vector>

#include "tessera/encoder/reasons/conditions.h"

namespace tessera::encoder::reasons {

// Buffers of one memory that live together and whose sizes alone exceed its capacity, with that capacity: a minimal set that needs
// no solver. Of the heaviest steps the one where fewest buffers are enough. nullopt where no step is overloaded.
// Cost: O(n log n) for n lifespans.
std::optional<std::vector<problem::Condition>> FindOverload(const Query& query);

}  // namespace tessera::encoder::reasons

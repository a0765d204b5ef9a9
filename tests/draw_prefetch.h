// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "tessera/base/random.h"

namespace tessera {

// When up to four parts of the constants of subgraph `number`, not the first one, arrive, or enough
// for several slices (plan::Subgraph::prefetch).
inline std::vector<int> DrawPrefetch(base::Random& random, size_t number) {
  std::vector<int> ahead(static_cast<size_t>(random.Uniform(1, random.Chance(0.5) ? 4 : 30)));
  for (int& each : ahead)
    each = static_cast<int>(random.Uniform(0, std::min<int64_t>(3, static_cast<int64_t>(number))));
  ahead.front() = std::max(ahead.front(), 1);
  std::sort(ahead.begin(), ahead.end(), std::greater<>());
  return ahead;
}

}  // namespace tessera

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/problem/fallback.h"
#include "tessera/problem/problem.h"
#include "tessera/search/choose/items.h"

namespace tessera::search::choose {

// Which fallbacks of the items that are left out are part of the problem: all, or those in the
// memory of their buffer alone.
enum class StandIns : uint8_t { kAll, kInPlace };

// The buffers that a choice places.
struct Part {
  problem::Problem problem;
  std::vector<int> buffers;  // by buffer of `problem`: the index of the buffer that is chosen, or
                             // for which it stands in
  size_t chosen = 0;         // so many are chosen; the others stand in
};

// The problem of the chosen items and of the fallbacks of the others. Relations, rules and costs of
// buffers that are not chosen go with them. `fallbacks` may be empty.
Part PartOf(const problem::Problem& problem, const Items& items, const std::vector<bool>& chosen,
            const problem::Fallbacks& fallbacks, StandIns which = StandIns::kAll);

}  // namespace tessera::search::choose

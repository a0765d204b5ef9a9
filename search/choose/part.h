// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/problem/fallback.h"
#include "tessera/problem/problem.h"
#include "tessera/search/choose/items.h"

namespace tessera::search::choose {

// The fallbacks of left-out items that become part of the problem: all, or only those in the memory
// of their buffer.
enum class StandIns : uint8_t { kAll, kInPlace };

// The buffers that a choice places, as a problem.
struct Part {
  problem::Problem problem;
  std::vector<int> buffers;  // by buffer of `problem`: the index of the chosen buffer, or of the
                             // buffer whose fallback it is
  size_t chosen = 0;         // the number of chosen buffers, which come first; the others stand in
};

// Returns the problem of the chosen items and of the fallbacks of the others. The relations, rules
// and costs of buffers that are not chosen are left out. `fallbacks` may be empty.
Part PartOf(const problem::Problem& problem, const Items& items, const std::vector<bool>& chosen,
            const problem::Fallbacks& fallbacks, StandIns which = StandIns::kAll);

}  // namespace tessera::search::choose

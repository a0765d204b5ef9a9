// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/choose/items.h"
#include "tessera/search/choose/value_bound.h"

namespace tessera::search::choose {

// Items that do not fit together, ascending.
using Core = std::vector<int>;

struct SubsetQuery {
  const std::vector<Core>* cores = nullptr;  // a subset must not contain one of them
  int64_t more_than = -1;                    // only subsets of a greater value are wanted
  size_t most_states = 8'000'000;            // in total; at most an eighth of it for one item
};

struct BestSubset {
  bool is_complete = false;                // false: too many states, or a stop
  std::optional<std::vector<bool>> items;  // none, if complete: no subset is worth more
  int64_t value = 0;
};

// Returns the most valuable subset that overfills no section and contains no core. This relaxes the
// question: addresses are ignored. The subset contains all items that must be placed.
//
// Dynamic programming over items by birth. The state after some items consists of the chosen items
// that still live and, for each core that some of the next items belong to, whether all its items
// so far were chosen:
//
//     item       a    b    c    d          state before c: {a, b} of those that live then
//     birth   |--a------|                  (a, b), (a, -), (-, b) or (-, -), with the greatest
//                  |--b------------|       value of a choice that leads there
//                       |--c----|
//
// States that cannot lead to more than the wanted value, by the prices of the sections still to
// come, are dropped. For an item with several pieces only the largest piece counts; the result is
// still a relaxation. Cost: items times states.
BestSubset FindBestSubset(const Items& items, const Prices& prices, const SubsetQuery& query,
                          const base::Stop& stop);

}  // namespace tessera::search::choose

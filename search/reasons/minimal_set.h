#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {

// Buffers of one memory that live together and whose sizes alone exceed its capacity, with that
// capacity: a minimal set that needs no solver. Of the heaviest steps the one where fewest buffers
// are enough. nullopt where no step is overloaded. Cost: O(n log n) for n lifespans.
std::optional<std::vector<problem::Condition>> FindOverload(const Query& query);

struct MinimalSet {
  std::vector<problem::Condition> conditions;  // ascending
  bool proven = false;  // that without any one of them the others can be kept
};

// Conditions of an infeasible question that cannot be kept together. What is found is put to the
// oracle once more: that it collides, and that it does not without any one of its members. `proven`
// is set where all these answers came; they may take `confirmation` units more than the oracle has
// left. See minimal_set.cc.
MinimalSet FindMinimalSet(const Query& query, reasons::Oracle& oracle, int64_t confirmation);

}  // namespace tessera::search::reasons

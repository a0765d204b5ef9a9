#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {

// Buffers of one memory that live together and whose sizes alone exceed its capacity, with that
// capacity: a minimal set that needs no solver. Selects, among the heaviest steps, the one where
// the fewest buffers suffice. nullopt if no step is overloaded. Cost: O(n log n) for n lifespans.
std::optional<std::vector<problem::Condition>> FindOverload(const Query& query);

struct MinimalSet {
  std::vector<problem::Condition> conditions;  // ascending
  bool proven = false;  // that the others can be satisfied without any one of them
};

// Conditions of an infeasible query that cannot be satisfied together. The oracle confirms the
// result: the set is in conflict, and is not without any one of its members. `proven` is set if all
// these answers came. They may take `confirmation` units more than the oracle has left. See
// minimal_set.cc.
MinimalSet FindMinimalSet(const Query& query, reasons::Oracle& oracle, int64_t confirmation);

}  // namespace tessera::search::reasons

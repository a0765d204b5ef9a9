#pragma once

#include <cstdint>
#include <vector>

#include "tessera/encoder/reasons/conditions.h"
#include "tessera/encoder/reasons/oracle.h"

namespace tessera::encoder::reasons {

struct MinimalSet {
  std::vector<problem::Condition> conditions;  // ascending
  bool proven = false;                         // that without any one of them the others can be kept
};

// Conditions of an infeasible question that cannot be kept together. What is found is put to the oracle once more: that it collides, and that
// it does not without any one of its members. `proven` is set where all these answers came; they may take `confirmation` units more
// than the oracle has left. See minimal_set.cc.
MinimalSet FindMinimalSet(const Query& query, Oracle& oracle, int64_t confirmation);

}  // namespace tessera::encoder::reasons

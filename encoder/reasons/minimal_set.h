#pragma once

#include <vector>

#include "tessera/encoder/reasons/conditions.h"
#include "tessera/encoder/reasons/oracle.h"

namespace tessera::encoder::reasons {

struct MinimalSet {
  std::vector<problem::Condition> conditions;  // ascending
  bool proven = false;                         // that without any one of them the others can be kept
};

// Conditions of an infeasible question that cannot be kept together. See minimal_set.cc.
MinimalSet FindMinimalSet(const Query& query, Oracle& oracle);

}  // namespace tessera::encoder::reasons

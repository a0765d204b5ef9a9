#pragma once

#include <string>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/partition.h"

// What tests ask a search for.
namespace tessera::search {

// This metric alone, without limits.
plan::Objective Minimise(const std::string& metric);

// With TestEngines, all boundary tensors at home between subgraphs.
partition::answer::PartitionOptions KeepingNothing(plan::Objective objective = {});

}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/partition.h"

// Options of searches in tests.
namespace tessera::search {

// This metric alone, without limits.
plan::Objective Minimise(const std::string& metric);

// With TestEngines; all boundary tensors are spilled between subgraphs.
partition::answer::PartitionOptions KeepingNothing(plan::Objective objective = {});

}  // namespace tessera::search

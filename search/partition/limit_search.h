// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/partition/related_search.h"

// Limits that a plan of a related objective keeps.
namespace tessera::search::partition {

// The answer of `search`. If it finds no plan within the limits, and does not prove that there is
// none: the plan of a related search that keeps them (limit_search.cc), if there is one.
base::Expected<answer::PartitionResult> SearchForLimits(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search);

}  // namespace tessera::search::partition

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/partition/related_search.h"

// Searches within limits that a plan of a related objective may keep.
namespace tessera::search::partition {

// Returns the answer of `search`. If that finds no plan within the limits and does not prove that
// there is none, returns the plan of a related search that keeps them (limit_search.cc), if any.
base::Expected<answer::PartitionResult> SearchForLimits(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search);

}  // namespace tessera::search::partition

#pragma once

#include "tessera/search/partition/ratio_search.h"

// Limits that only prefetched constants keep.
namespace tessera::search::partition {

// The answer of `search`. If the options prefetch constants, and `search` finds no plan within
// limits that prefetching changes: the plan of a related search that keeps them
// (prefetch_search.cc), if there is one.
base::Expected<answer::PartitionResult> SearchForPrefetched(const graph::Graph& graph,
                                                            const hw_profiles::Profile& profile,
                                                            const answer::PartitionOptions& options,
                                                            const SearchFunction& search);

}  // namespace tessera::search::partition

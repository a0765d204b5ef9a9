// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/partition/related_search.h"

namespace tessera::search::partition {

// The best plan with prefetched constants, of several searches that leave memory for these
// (transfer_search.cc). The options ask for prefetched constants.
base::Expected<answer::PartitionResult> SearchForTransfers(const graph::Graph& graph,
                                                           const hw_profiles::Profile& profile,
                                                           const answer::PartitionOptions& options,
                                                           const SearchFunction& search);

}  // namespace tessera::search::partition

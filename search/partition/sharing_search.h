// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/partition/related_search.h"

namespace tessera::search::partition {

// Returns the best plan whose tensors at home share addresses as options.off_chip states
// (sharing_search.cc). For whole tensors, returns the result of `search`.
base::Expected<answer::PartitionResult> SearchForSharing(const graph::Graph& graph,
                                                         const hw_profiles::Profile& profile,
                                                         const answer::PartitionOptions& options,
                                                         const SearchFunction& search);

// Adapts a result without a plan and without a refutation: if it is proven only for whole tensors,
// and not for tensors that share bytes, the status becomes kUnknown.
void ClaimForSharing(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const answer::PartitionOptions& options, answer::PartitionResult& result);

}  // namespace tessera::search::partition

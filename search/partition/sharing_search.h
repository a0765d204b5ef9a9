// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/search/partition/related_search.h"

namespace tessera::search::partition {

// The best plan whose tensors at home share addresses as the options ask (sharing_search.cc). If
// they ask for whole tensors: the result of `search`.
base::Expected<answer::PartitionResult> SearchForSharing(const graph::Graph& graph,
                                                         const hw_profiles::Profile& profile,
                                                         const answer::PartitionOptions& options,
                                                         const SearchFunction& search);

// Without a plan, and without a refutation that holds for tensors that share bytes: a result that
// is proven of whole tensors only is not infeasible.
void ClaimForSharing(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const answer::PartitionOptions& options, answer::PartitionResult& result);

}  // namespace tessera::search::partition

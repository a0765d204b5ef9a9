#pragma once

#include <functional>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/answer/options_and_result.h"

namespace tessera::search::partition {

using SearchOf = std::function<base::Expected<answer::PartitionResult>(
    const graph::Graph&, const answer::PartitionOptions&)>;

// The result of `search` for the network. If that has no plan, and softmax or normalisations do not
// fit alone, these are computed in two passes (graph/two_passes.h), and the plan of that network is
// the result, with a note. If it has no plan either, the refusal is that of the given network. With
// constraints or a previous plan, which refer to the given operators, the network stays as it is.
base::Expected<answer::PartitionResult> SearchAlsoInTwoPasses(
    const graph::Graph& network, const hw_profiles::Profile& profile,
    const answer::PartitionOptions& options, const SearchOf& search);

}  // namespace tessera::search::partition

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/partition.h"

// The combinations of latency, energy, traffic and peak that can be reached together.
namespace tessera::search::partition::analysis {

struct Front : plan::PartitionFront {
  // The result of the search for the least latency, if the front has no point.
  answer::PartitionResult refusal = {};
};

// Finds plans between the least value of each metric and the least latency. Uses at most
// `most_searches` searches with these options. The limits of their objective hold for all points.
// An error is a bad option or an error of the program.
base::Expected<Front> FindFront(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                const answer::PartitionOptions& options, int most_searches);

}  // namespace tessera::search::partition::analysis

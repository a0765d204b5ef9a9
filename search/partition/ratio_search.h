#pragma once

#include <functional>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/answer/options_and_result.h"

// Objectives that weigh ratios over time: power, average bandwidth.
namespace tessera::search::partition {

// The metric that a ratio divides by the latency.
std::string_view NumeratorOf(const plan::Metric& ratio);

bool WeighsRatios(const plan::Objective& objective);

using SearchFunction = std::function<base::Expected<answer::PartitionResult>(
    const graph::Graph& graph, const answer::PartitionOptions& options)>;

// The best plan of several searches (ratio_search.cc), for an objective that weighs ratios.
base::Expected<answer::PartitionResult> SearchForRatios(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search);

}  // namespace tessera::search::partition

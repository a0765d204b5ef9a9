// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "tessera/search/partition/related_search.h"

// Searches for objectives that weigh ratios over time: power, average bandwidth.
namespace tessera::search::partition {

// Returns the metric that a ratio divides by the latency.
std::string_view NumeratorOf(const plan::Metric& ratio);

bool WeighsRatios(const plan::Objective& objective);

// Returns the objective with the weights of ratios on their numerators; in a mean, both are
// relative to their bounds. Baselines are the best layer-by-layer plans for this objective, because
// for a ratio alone the slowest tiles would be the best.
plan::Objective WithoutRatios(plan::Objective objective);

// Returns the best plan of several searches (ratio_search.cc), for an objective that weighs ratios.
base::Expected<answer::PartitionResult> SearchForRatios(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& options,
                                                        const SearchFunction& search);

}  // namespace tessera::search::partition

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// Compares two profiles for one network without a search.
namespace tessera::search::partition::analysis {

// Whether every plan of the network for `worse` is known to be a plan for `better` too, with at
// most the same value in each of the metrics. The optimum for `better` is then a lower bound for
// `worse`, and if there is no plan for `better`, there is none for `worse`. `metrics`: names as in
// plan/metrics.h; if empty, only the existence of plans is compared. Returns false for ratios over
// time, because a faster plan may have more power. Cost: linear in the network and the profile.
bool IsAtLeastAsGood(const graph::Graph& network, const hw_profiles::Profile& better,
                     const hw_profiles::Profile& worse, std::span<const std::string_view> metrics);

}  // namespace tessera::search::partition::analysis

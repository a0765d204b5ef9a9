// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search::cost {

// Returns the network with an engine for each operator that several engines may run: the cheapest
// for the metrics with weights, see engine_choice.cc. An engine that was chosen before stays if it
// may run the operator; one that the author of the network names always does.
graph::Graph WithEngines(graph::Graph graph, const hw_profiles::Profile& profile,
                         const std::map<std::string, double>& weights);

}  // namespace tessera::search::cost

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/demands.h"

namespace tessera::search {

// The demands in a file (docs/demands.md) on plans of this network, without fault (demand_faults.h), or the first thing wrong with
// its line and column; `file_name` is for messages only.
base::Expected<std::vector<Demand>> ReadDemands(std::string text, std::string file_name,
                                                const graph::Graph& graph,
                                                const hw_profiles::Profile& profile,
                                                std::optional<int> max_operators);

}  // namespace tessera::search

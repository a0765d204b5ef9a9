#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/demands.h"

namespace tessera::search {

// A demand that no plan can keep, whatever fits; `demand` is its index.
struct DemandFault {
  size_t demand = 0;
  base::Diagnostic diagnostic;  // without position
};

// The first demand that makes no sense for this network and profile, that contradicts one before it, or that needs longer
// subgraphs than these; or nullopt. Of two that contradict each other the later is at fault.
std::optional<DemandFault> FindFault(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const Demand> demands, std::optional<int> max_operators);

}  // namespace tessera::search

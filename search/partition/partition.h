#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/refutation/refute.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/cut_states.h"
#include "tessera/search/partition/options_and_result.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/obstacle.h"
#include "tessera/search/tiling/cached_engines.h"

// From a network and a profile to a plan: which operators run as one subgraph, with which tiles, and where every buffer lies.
namespace tessera::search {

// Finds the best partition that keeps the demands. Its network has the operators in the order in which the plan runs them; demands and
// obstacles are about the graph's own. Operators that demands hold together stay in that order. An error is a bad objective, option or demand, or a fault of the program: a plan that its independent
// validator refuses is never handed out.
base::Expected<PartitionResult> SearchPartition(const graph::Graph& graph,
                                                const hw_profiles::Profile& profile,
                                                const PartitionOptions& options);

}  // namespace tessera::search

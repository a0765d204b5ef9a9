#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// What was passed over for a subgraph, as plan.json tells it ("rejected").
namespace tessera::plan {

nlohmann::ordered_json RejectionsToJson(const Subgraph& subgraph, const graph::Graph& network);

// Refuses operators that the network does not have or that lie before the subgraph.
std::vector<Rejection> ReadRejections(const std::vector<base::JsonValue>& values, const Subgraph& subgraph,
                                      const graph::Graph& network);

}  // namespace tessera::plan

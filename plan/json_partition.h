#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// The parts of plan.json that nothing else follows from. Each refuses, through the value's reader, what is not as it should be, and
// then returns something empty.
namespace tessera::plan {

graph::Graph ReadEmbeddedNetwork(const base::JsonValue& value);
hw_profiles::Profile ReadEmbeddedProfile(const base::JsonValue& value);
Objective ReadObjective(const base::JsonValue& value);
uint64_t ReadSeed(const base::JsonValue& value);

// "kept": ids of tensors, in any order; the indices ascending.
std::vector<int> ReadKept(const std::vector<base::JsonValue>& ids, const graph::Graph& network);

// "operators", "tile" and "policies" of a subgraph.
Subgraph ReadCut(base::JsonObject& object, const graph::Graph& network);

}  // namespace tessera::plan

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// What was demanded of a plan, as plan.json tells it ("demands"): as a file of demands does (docs/demands.md).
namespace tessera::plan {

nlohmann::ordered_json DemandsToJson(const Plan& plan);

// Of a plan whose network and profile are read. Refuses operators, tensors and memories that these do not have.
std::vector<Demand> ReadDemands(const base::JsonValue& value, const Plan& plan);

}  // namespace tessera::plan

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// How a plan came to be, as plan.json states it ("run").
namespace tessera::plan {

nlohmann::ordered_json RunToJson(const Plan& plan);

// Of a plan whose network is read. Refuses operators that it does not have, and an order that does not name each operator once.
Run ReadRun(const base::JsonValue& value, const Plan& plan);

}  // namespace tessera::plan

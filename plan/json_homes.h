#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// The addresses outside the tile memory, as plan.json states them.
namespace tessera::plan {

nlohmann::ordered_json HomesToJson(const Plan& plan);

// Of a plan whose network and profile are known. Refuses memories and tensors that these do not have, and peaks that contradict
// the offsets; whether everything is there, and rightly so, is not asked.
std::vector<Home> ReadHomes(const std::vector<base::JsonValue>& values, const Plan& plan);

}  // namespace tessera::plan

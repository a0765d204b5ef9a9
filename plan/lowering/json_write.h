#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// "lowering" of plan.json (docs/plan-format.md). The plan has one.
nlohmann::ordered_json ToJson(const Plan& plan);

}  // namespace tessera::plan::lowering

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tessera/base/json_reader.h"
#include "tessera/problem/json_references.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// One rule of a problem in its JSON form, which other documents that hold problems share. `problem` has its
// memories and buffers.
nlohmann::ordered_json RuleToJson(const Problem& problem, const Rule& rule);
Rule ReadRule(const base::JsonValue& value, const Problem& problem, const BufferIndex& buffers);

// The same of a cost.
Cost ReadCost(const base::JsonValue& value, const Problem& problem, const BufferIndex& buffers);

}  // namespace tessera::problem

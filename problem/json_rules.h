#pragma once

#include "tessera/base/json_reader.h"
#include "tessera/problem/json_references.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// One rule or cost of a problem whose memories and buffers have been read. Internal to the reader.
Rule ReadRule(const base::JsonValue& value, const Problem& problem, const BufferIndex& buffers);
Cost ReadCost(const base::JsonValue& value, const Problem& problem, const BufferIndex& buffers);

}  // namespace tessera::problem

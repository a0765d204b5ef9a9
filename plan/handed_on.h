#pragma once

#include <vector>

#include "tessera/plan/in_place.h"

namespace tessera::plan {

// The pairs of a state and what it is in the next run, where the latter must lie in the place of the former: docs/program.md, State
// that is handed on.
std::vector<InPlacePair> FindHandedOn(const Plan& plan, const std::vector<Users>& users, const Trace& trace);

}  // namespace tessera::plan

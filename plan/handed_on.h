#pragma once

#include <vector>

#include "tessera/plan/in_place.h"

namespace tessera::plan {

// The pairs of a state and what it is in the next run, where the latter must lie in the place of the former: docs/program.md, State
// that is handed on.
std::vector<InPlacePair> FindHandedOn(const Plan& plan, const std::vector<Users>& users, const Trace& trace);

// Whether the next value of a state must lie in the state's place where both have whole buffers. `next` has a state.
bool MayTakePlaceOfState(const Plan& plan, const std::vector<Users>& users, int next);

}  // namespace tessera::plan

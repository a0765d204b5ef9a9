#pragma once

#include <string>

#include "tessera/plan/plan.h"

namespace tessera::plan {

// A header for C99 and C++ with what a hand-written runtime needs of the plan: for each buffer and each tensor at home macros with
// its offset and size, and constant tables of subgraphs, steps with their modes, buffers and tensors. Names are made valid and
// unique; the same plan gives the same bytes.
std::string WriteHeader(const Plan& plan);

}  // namespace tessera::plan

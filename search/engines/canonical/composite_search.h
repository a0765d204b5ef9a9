// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "tessera/problem/engine.h"
#include "tessera/search/engines/canonical/canonical.h"

namespace tessera::search::engines::canonical {

// Opens a session of the canonical engine for buffers at fixed distances (composites.h): a complete
// depth-first search over the gaps between forbidden distances. Answers kFeasible, kInfeasible
// after an exhausted search, or kUnknown. Budget units are nodes.
std::unique_ptr<problem::Session> OpenCompositeSearch(const problem::Problem& problem,
                                                      const problem::Ladder* ladder, uint64_t seed);

}  // namespace tessera::search::engines::canonical

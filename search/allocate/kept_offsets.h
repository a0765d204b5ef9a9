// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::search::allocate {

// Looks for a placement within `capacity` bytes of memories[0] in which most buffers lie where they
// did: `former` has an offset for each buffer that has not changed. First only the others are
// placed, then also the buffers that live together with these. nullopt if neither fits within a
// small budget. The placement, with its peak and without a claim that it is least, was checked.
//
// Cost: that of an allocation in which most offsets are fixed, twice at most.
base::Expected<std::optional<problem::Result>> KeepOffsets(
    const problem::Problem& problem, std::span<const std::optional<problem::Bytes>> former,
    problem::Bytes capacity, std::span<const problem::Engine* const> engines,
    const base::Stop& stop);

}  // namespace tessera::search::allocate

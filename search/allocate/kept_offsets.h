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

// Searches for a placement within `capacity` bytes of memories[0] in which most buffers keep their
// offsets. `former` contains the offset of each unchanged buffer. The first attempt places only the
// changed buffers; the second also moves the buffers that live together with them. Returns a
// checked placement with its peak, which is not claimed to be least; nullopt if both attempts fail
// within a small budget.
//
// Cost: at most two allocations in which most offsets are fixed.
base::Expected<std::optional<problem::Result>> KeepOffsets(
    const problem::Problem& problem, std::span<const std::optional<problem::Bytes>> former,
    problem::Bytes capacity, std::span<const problem::Engine* const> engines,
    const base::Stop& stop);

}  // namespace tessera::search::allocate

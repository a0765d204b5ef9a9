// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/problem/problem.h"

namespace tessera::search::allocate {

// Returns why no placement, for any sizes, lets banks and modes serve all accesses of the buffers
// that must lie in banks; nullopt if this check finds no such reason.
std::optional<std::string> FindUnservedAccess(const problem::Problem& problem);

}  // namespace tessera::search::allocate

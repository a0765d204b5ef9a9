// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/problem/problem.h"

namespace tessera::search::allocate {

// Why no placement of any sizes lets banks and modes serve all accesses of the buffers that must
// lie in banks, or nullopt if this check finds no reason.
std::optional<std::string> FindUnservedAccess(const problem::Problem& problem);

}  // namespace tessera::search::allocate

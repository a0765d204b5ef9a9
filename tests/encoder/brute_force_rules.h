// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::encoder {

// Whether the placed buffers break no rule. The definitions are applied byte by byte, without code
// of any engine or of the validator. `placed` are the addresses of the first buffers; requirements
// on other buffers are left open.
bool RulesHold(const problem::Problem& problem, const std::vector<problem::AddressRange>& placed,
               problem::Bytes capacity);

}  // namespace tessera::encoder

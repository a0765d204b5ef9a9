#pragma once

#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::encoder {

// Whether nothing that is placed breaks a rule: read off the definitions byte by byte, without the
// code of any engine or of the validator. `placed` are the addresses of the first buffers; what
// rules say of others is left open.
bool RulesHold(const problem::Problem& problem, const std::vector<problem::AddressRange>& placed,
               problem::Bytes capacity);

}  // namespace tessera::encoder

#pragma once

#include "tessera/problem/explanation.h"
#include "tessera/problem/result.h"
#include "tessera/problem/window.h"

namespace tessera::problem {

// The buffers of an explanation by themselves, for looking at them: piled up by first fit, largest first, each at its own alignment
// or fixed offset and clear of what is reserved, however high the pile grows; blind to banks, modes and relations. Of their accesses
// only those stay that the explanation names. Steps keep their numbers; nothing has a mode. Cost: O(k^2) for k buffers.
Window PileUp(const Problem& problem, const Explanation& explanation);

}  // namespace tessera::problem

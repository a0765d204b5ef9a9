#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {

enum class ViolationKind : uint8_t {
  kShape,   // the allocation has the wrong number of offsets or modes
  kBounds,  // below 0 or beyond the capacity
  kAlignment,
  kFixedOffset,
  kReserved,
  kOverlap,  // two buffers share a byte at a step
  kRelation,
  kSpan,  // outside the banks, across a border, or in a bank that is not allowed
  kMode,  // an access that the mode of a touched bank forbids, or a live buffer in a bank that is off
  kTransition,
  kPorts,
  kRule,  // what a rule of the profile or of the problem asks
};

std::string_view NameOf(ViolationKind kind);

// One broken requirement, in words that name buffers, steps, banks and addresses.
struct Violation {
  ViolationKind kind = ViolationKind::kShape;
  std::string message;
};

// Everything that is wrong with `allocation` as an answer to `problem` when memories[0] has `capacity` bytes;
// empty when it is a correct answer. Shares no code with any engine: it looks at each requirement as the
// definition states it. Stops after `most` violations. Cost: O(n log n + overlapping pairs in time, plus
// accesses times banks). Needs a well-formed Problem.
std::vector<Violation> Validate(const Problem& problem, const Allocation& allocation, Bytes capacity,
                                size_t most = 100);

}  // namespace tessera::problem

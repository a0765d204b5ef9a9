#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {

// Two buffers of one memory that live at `step` (the first such step) and share the bytes `shared`;
// first < second.
struct Overlap {
  size_t first = 0;
  size_t second = 0;
  Step step = 0;
  AddressRange shared;
};

// The pairs of buffers that share a byte at a step, each pair once, except those that a kColocate
// or kExclusive relation names; at most `most` of them. `offsets` is parallel to problem.buffers,
// and offset + size does not overflow. Which pairs are found does not depend on the order of the
// buffers unless `most` cuts the list. Cost: O(n log n + n k), where n counts lifespans and k the
// buffers that overlap another at one step.
std::vector<Overlap> FindOverlaps(const Problem& problem, const std::vector<Bytes>& offsets,
                                  size_t most);

// One sentence for each buffer or pair that does not keep a rule, in the order of the rules. Part
// of the validator: it looks at each requirement as rule.h defines it. `offsets` is parallel to
// problem.buffers and no offset + size overflows. Cost: O(rules * buffers * banks), and a sweep
// over time (overlap.h) for each rule that guards.
std::vector<std::string> FindBrokenRules(const Problem& problem, const std::vector<Bytes>& offsets,
                                         Bytes capacity);

enum class ViolationKind : uint8_t {
  kShape,   // the allocation has the wrong number of offsets or modes
  kBounds,  // below 0 or beyond the capacity
  kAlignment,
  kFixedOffset,
  kReserved,
  kOverlap,  // two buffers share a byte at a step
  kRelation,
  kSpan,  // outside the banks, across a boundary, or in a bank that is not allowed
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

// Everything that is wrong with `allocation` as an answer to `problem` when memories[0] has
// `capacity` bytes; empty when it is a correct answer. Shares no code with any engine: it looks at
// each requirement as the definition states it. Stops after `most` violations. Cost: O(n log n +
// overlapping pairs in time, plus accesses times banks). Needs a well-formed Problem.
std::vector<Violation> Validate(const Problem& problem, const Allocation& allocation,
                                Bytes capacity, size_t most = 100);

}  // namespace tessera::problem

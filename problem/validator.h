// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {

// Two buffers of one memory that both live at `step` (the first such step) and share the bytes
// `shared`; first < second.
struct Overlap {
  size_t first = 0;
  size_t second = 0;
  Step step = 0;
  AddressRange shared;
};

// The pairs of buffers that share a byte at a step, each pair once, except pairs of a kColocate or
// kExclusive relation; at most `most` of them. `offsets` is parallel to problem.buffers, and offset
// + size does not overflow. The set of pairs does not depend on the order of the buffers, unless
// `most` cuts the list. Cost: O(n log n + n k) for n lifespans and k buffers that overlap another
// one at one step.
std::vector<Overlap> FindOverlaps(const Problem& problem, const std::vector<Bytes>& offsets,
                                  size_t most);

// Returns one sentence for each buffer or pair that violates a rule, in the order of the rules.
// Part of the validator: it checks each requirement as rule_kind.h defines it. `offsets` is
// parallel to problem.buffers and no offset + size overflows. Cost: O(rules * buffers * banks), and
// one sweep over time (FindOverlaps) for each rule with a guard.
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
  // an access that the mode of a touched bank forbids, or a live buffer in a bank that is off
  kMode,
  kTransition,
  kPorts,
  kRule,  // a rule of the profile or of the problem
};

std::string_view NameOf(ViolationKind kind);

// One violated requirement, in words that name buffers, steps, banks and addresses.
struct Violation {
  ViolationKind kind = ViolationKind::kShape;
  std::string message;
};

// All violations of `allocation` as an answer to `problem` when memories[0] has `capacity` bytes;
// empty if the answer is correct. Shares no code with any engine: it checks each requirement as its
// definition states it. Stops after `most` violations. Cost: O(n log n + overlapping pairs in time,
// plus accesses times banks). Requires a well-formed Problem.
std::vector<Violation> Validate(const Problem& problem, const Allocation& allocation,
                                Bytes capacity, size_t most = 100);

}  // namespace tessera::problem

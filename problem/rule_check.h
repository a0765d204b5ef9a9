// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/problem.h"

// The definitions of rules for the validator and the checker of certificates. For each kind they
// decide whether the known facts about the places of an item can agree with the rule. For an
// allocation every place is known; for an axiom of a proof, the axiom's literals restrict the
// places. The definitions are written from the meanings in rule_kind.h and share nothing with those
// for engines.
namespace tessera::problem {

// The known facts about the place of a buffer: its offset is a multiple of `stride` in [least,
// greatest], and for some banks whether it touches them. Banks that are in neither set are open.
struct KnownPlace {
  Bytes size = 1;
  Bytes least = 0;
  Bytes greatest = 0;
  Bytes stride = 1;
  std::vector<bool> touched;    // by bank
  std::vector<bool> untouched;  // by bank
};

struct KnownItem {
  const Requirement& wanted;
  const Memory& memory;  // of the buffers
  Bytes capacity = 0;    // of that memory
  KnownPlace first;
  KnownPlace second;  // of a pair; otherwise without banks
  // The pair with which this one is compared, if the kind compares pairs.
  const std::array<KnownPlace, 2>* other = nullptr;
};

struct RuleCheck {
  // Whether some place of the item may agree with the rule. True if more than 2^16 offsets would
  // have to be tried; exact for a known place. Of a guard only the bounds and reserved ranges of
  // the memory are checked.
  bool (*can_hold)(const KnownItem& item) = nullptr;
  // Describes the fault of known places for which `can_hold` is false: "crosses a multiple of 64".
  std::string (*fault)(const KnownItem& item) = nullptr;
  // Returns a number that the granularity (axiom_checker.h) must divide, so that rounding offsets
  // down does not break the rule; 0 if every granularity is safe. Null: only 1 is safe.
  Bytes (*divisor)(const Problem& problem, const Rule& rule) = nullptr;
  bool compares_pairs = false;  // with each other: `can_hold` needs `other`
};

const RuleCheck& CheckOf(RequirementKind kind);

inline constexpr int64_t kMostTries = int64_t{1} << 16;

// Whether some multiple of the place's stride in its range is accepted; true if there are too many
// to try.
template <typename Accepts>
bool HasOffset(const KnownPlace& place, Accepts accepts) {
  const Bytes first = base::RoundUp(place.least, place.stride);
  if (first > place.greatest) return false;
  if ((place.greatest - first) / place.stride >= kMostTries) return true;
  for (Bytes offset = first; offset <= place.greatest; offset += place.stride) {
    if (accepts(offset)) return true;
  }
  return false;
}

// Whether some multiple of the place's stride in its range has this residue modulo `multiple`.
bool HasResidue(const KnownPlace& place, Bytes multiple, Bytes residue);

// The least residue that is not negative.
inline Bytes Modulo(Bytes value, Bytes multiple) {
  return (value % multiple + multiple) % multiple;
}

// The greatest common divisor of the alignments of the rule's buffers.
Bytes CommonAlignment(const Problem& problem, const Rule& rule);

}  // namespace tessera::problem

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/problem.h"

// The definitions of rules for the validator and the checker of certificates: for each kind,
// whether what is known of the places of an item can agree with the rule. For an allocation
// everything is known. For an axiom of a proof it is what the axiom's literals leave open. Written
// from the meanings in rule_kind.h; shares nothing with the definitions for engines.
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
  // Whether some place of the item may agree with the rule. True where more than 2^16 offsets would
  // have to be tried; exact for a known place. For a guard: with the memory alone.
  bool (*can_hold)(const KnownItem& item) = nullptr;
  // The fault of known places for which the above is false: "crosses a multiple of 64".
  std::string (*fault)(const KnownItem& item) = nullptr;
  // The number that offsets may be rounded down to multiples of, and their sizes and alignments
  // too, without breaking the rule; 0: any. Null: only 1.
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

// Whether some multiple of the place's stride in its range has the residue.
bool HasResidue(const KnownPlace& place, Bytes multiple, Bytes residue);

// The least residue that is not negative.
inline Bytes Modulo(Bytes value, Bytes multiple) {
  return (value % multiple + multiple) % multiple;
}

// The greatest common divisor of the alignments of the rule's buffers.
Bytes CommonAlignment(const Problem& problem, const Rule& rule);

}  // namespace tessera::problem

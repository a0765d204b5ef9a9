// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/explore/space.h"

// The parts of a profile beyond sizes and speeds, piece by piece: rules, alignments and the like,
// and the modes of its banks.
namespace tessera::explore {

struct Restriction {
  std::string kind;                         // "rule", "alignment", ...
  std::string what;                         // in words
  std::function<void(Json& profile)> drop;  // from the profile, or from one without some others
};

// Each rule, alignment, port limit, forbidden transition, reserved range and bank boundary of the
// profile, which is in short form. An alignment becomes 1. A boundary goes where two neighbouring
// banks have the same states in every mode and nothing else tells them apart; a span of single or
// contiguous banks becomes `any`.
std::vector<Restriction> RestrictionsOf(const Json& profile);

// A mode of a memory with at least two.
struct ModeOf {
  std::string memory;
  std::string mode;
};
std::vector<ModeOf> ModesOf(const Json& profile);

// The profile without the mode, and without transitions from and to it.
Json WithoutMode(Json profile, const ModeOf& mode);

}  // namespace tessera::explore

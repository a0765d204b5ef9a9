// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/explore/space.h"

// The restrictions of a profile apart from sizes and speeds, one by one: rules, alignments and the
// like, and the modes of its banks.
namespace tessera::explore {

struct Restriction {
  std::string kind;                         // "rule", "alignment", ...
  std::string what;                         // in words
  std::function<void(Json& profile)> drop;  // removes it from the profile, even without some others
};

// Returns each rule, alignment, port limit, forbidden transition, reserved range and bank boundary
// of the profile, which is in short form. Dropping an alignment sets it to 1. Dropping a boundary
// joins two neighbouring banks, if they have the same states in every mode and nothing else
// distinguishes them; dropping a span of single or contiguous banks sets it to `any`.
std::vector<Restriction> RestrictionsOf(const Json& profile);

// A mode of a memory that has at least two modes.
struct ModeOf {
  std::string memory;
  std::string mode;
};
std::vector<ModeOf> ModesOf(const Json& profile);

// Returns the profile without the mode, and without transitions from and to it.
Json WithoutMode(Json profile, const ModeOf& mode);

}  // namespace tessera::explore

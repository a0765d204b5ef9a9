#pragma once

#include <string>

#include "tessera/hw_profiles/profile.h"

namespace tessera::hw_profiles {

// The profile in its file format, written as JSON: complete, with every default and nothing extended, so that
// a plan can embed it. JSON is YAML: ReadProfile reads it back to an equal profile. Bytes depend on the
// profile alone.
std::string WriteProfileJson(const Profile& profile);

}  // namespace tessera::hw_profiles

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::hw_profiles {

// Returns the text of the file that `extends` names, with its path already resolved relative to the
// file that states it, or the reason why it cannot. Empty if no other file may be read.
using Loader = std::function<base::Expected<std::string>(std::string_view name)>;

// Reads a profile (docs/profile-format.md) and every profile that it extends. A key of the
// extending file overrides; maps merge key by key. Each complaint has the position of its key in
// the file that states it. `file_name` is the user's name of the text.
base::Expected<Profile> ReadProfile(std::string text, std::string file_name, const Loader& loader);

// Returns the profile in its file format, written as JSON. It is complete, with every default and
// without `extends`, so that a plan can embed it. JSON is YAML, so ReadProfile reads it back to an
// equal profile. The bytes depend on the profile alone.
std::string WriteProfileJson(const Profile& profile);

}  // namespace tessera::hw_profiles

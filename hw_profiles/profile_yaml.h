#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::hw_profiles {

// Hands in the text of the file that `extends` names, its path already taken relative to the file
// that states it; or says why it cannot. Empty where no other file may be read.
using Loader = std::function<base::Expected<std::string>(std::string_view name)>;

// Reads a profile (docs/profile-format.md) and every profile that it extends. A key of the
// extending file wins; maps merge key by key. Each complaint stands where its key does, whichever
// file that is. `file_name` is what the user called the text.
base::Expected<Profile> ReadProfile(std::string text, std::string file_name, const Loader& loader);

// The profile in its file format, written as JSON: complete, with every default and nothing
// extended, so that a plan can embed it. JSON is YAML: ReadProfile reads it back to an equal
// profile. Bytes depend on the profile alone.
std::string WriteProfileJson(const Profile& profile);

}  // namespace tessera::hw_profiles

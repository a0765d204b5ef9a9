#pragma once

#include "tessera/base/yaml_reader.h"
#include "tessera/hw_profiles/profile.h"

// The sections of a profile file. Each function reads one section of `root` into `profile` and
// complains through the node's reader. Later sections refer to earlier ones, so they are read in
// this order. Internal to the reader.
namespace tessera::hw_profiles {

void ReadMemories(const base::YamlNode& root, Profile& profile);
void ReadEngines(const base::YamlNode& root, Profile& profile);
void ReadLinks(const base::YamlNode& root, Profile& profile);
void ReadRoles(const base::YamlNode& root, Profile& profile);
void ReadTiling(const base::YamlNode& root, Profile& profile);
void ReadScratch(const base::YamlNode& root, Profile& profile);

// Bank modes name engines and links, so they are read after these.
void ReadModes(const base::YamlNode& root, Profile& profile);

// Rules name banks of the tile memory.
void ReadRules(const base::YamlNode& root, Profile& profile);

// Complains about sections that are each well formed but inconsistent with each other.
void CheckProfile(const base::YamlNode& root, const Profile& profile);

// Limits of numbers in profiles: large enough for all hardware, and small enough that products of
// two stay far from overflow.
inline constexpr int64_t kMostCount = int64_t{1} << 30;
inline constexpr int64_t kMostBytes = int64_t{1} << 40;
inline constexpr int64_t kMostCycles = int64_t{1} << 40;
inline constexpr double kMostRate = 1e18;

// Complains unless the key of `node` is a name: letters, digits, '_' and '-', not beginning with a
// digit or '-'.
void RequireName(const base::YamlNode& node, const std::string& name);

// The index of the memory that `node` names.
int ReadMemoryName(const base::YamlNode& node, const Profile& profile);

// Reads `map[key]` if it is present.
void ReadInteger(const base::YamlNode& map, std::string_view key, int64_t least, int64_t most,
                 int64_t& value);
void ReadInteger(const base::YamlNode& map, std::string_view key, int64_t least, int64_t most,
                 int& value);
void ReadNumber(const base::YamlNode& map, std::string_view key, double least, double most,
                double& value);
void ReadBoolean(const base::YamlNode& map, std::string_view key, bool& value);

}  // namespace tessera::hw_profiles

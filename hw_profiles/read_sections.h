// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Complains unless the key of `node` is a name: letters, digits, '_' and '-', not beginning with a
// digit or '-'.
void RequireName(const base::YamlNode& node, const std::string& name);

// The index of the memory that `node` names.
int ReadMemoryName(const base::YamlNode& node, const Profile& profile);

// Whether a file states `key:` or `key: null`, by which an extending profile drops what the key
// states.
inline bool IsDropped(const base::YamlNode& node) {
  return node && !node.IsMap() && !node.IsList() && !node.IsScalar();
}

// Complains about keys of the map that neither the table (profile.h) nor `more` lists.
template <typename Fields>
void RequireFields(const base::YamlNode& map, const Fields& fields,
                   std::span<const std::string_view> more = {}) {
  std::vector<std::string_view> keys;
  keys.reserve(fields.size() + more.size());
  for (const auto& field : fields) keys.push_back(field.key);
  keys.insert(keys.end(), more.begin(), more.end());
  map.OnlyKeys(keys);
}

inline void ReadValue(const base::YamlNode& node, FieldRange /*range*/, bool& value) {
  value = node.Boolean();
}
inline void ReadValue(const base::YamlNode& node, FieldRange range, double& value) {
  value = node.Number(range.least, range.most);
}
inline void ReadValue(const base::YamlNode& node, FieldRange range, std::optional<double>& value) {
  if (!IsDropped(node)) value = node.Number(range.least, range.most);
}
template <typename Integer>
void ReadValue(const base::YamlNode& node, FieldRange range, Integer& value) {
  value = static_cast<Integer>(
      node.Integer(static_cast<int64_t>(range.least), static_cast<int64_t>(range.most)));
}

// Reads the fields that have a member.
template <typename Fields, typename Section>
void ReadFields(const base::YamlNode& map, const Fields& fields, Section& section) {
  for (const auto& field : fields) {
    VisitValue(field, section, [&](auto& value) {
      const bool required = field.presence == Presence::kRequired;
      const base::YamlNode node = required ? map.At(field.key) : map.Maybe(field.key);
      if (required || node) ReadValue(node, field.range, value);
    });
  }
}

}  // namespace tessera::hw_profiles

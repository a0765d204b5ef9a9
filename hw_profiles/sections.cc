#include "tessera/hw_profiles/sections.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "tessera/base/suggest.h"

namespace tessera::hw_profiles {

void RequireName(const base::YamlNode& node, const std::string& name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto follows = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
  };
  if (!name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), follows)) return;
  node.ComplainOfKey("'" + name + "' is no name", "letters, digits, '_' and '-', a letter or '_' first");
}

int ReadMemoryName(const base::YamlNode& node, const Profile& profile) {
  const std::string name = node.Text();
  std::vector<std::string_view> names;
  for (const Memory& memory : profile.memories) names.emplace_back(memory.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  node.Complain("no memory is called '" + name + "'", "one of " + base::Join(names),
                base::DidYouMean(name, names));
  return 0;
}

void ReadInteger(const base::YamlNode& map, std::string_view key, int64_t least, int64_t most,
                 int64_t& value) {
  if (const base::YamlNode node = map.Maybe(key)) value = node.Integer(least, most);
}

void ReadInteger(const base::YamlNode& map, std::string_view key, int64_t least, int64_t most, int& value) {
  if (const base::YamlNode node = map.Maybe(key)) value = static_cast<int>(node.Integer(least, most));
}

void ReadNumber(const base::YamlNode& map, std::string_view key, double least, double most, double& value) {
  if (const base::YamlNode node = map.Maybe(key)) value = node.Number(least, most);
}

void ReadBoolean(const base::YamlNode& map, std::string_view key, bool& value) {
  if (const base::YamlNode node = map.Maybe(key)) value = node.Boolean();
}

}  // namespace tessera::hw_profiles

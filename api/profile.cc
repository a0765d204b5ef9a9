// SPDX-License-Identifier: Apache-2.0

#include <tessera/profile.h>

#include <nlohmann/json.hpp>

#include "tessera/api/content.h"
#include "tessera/base/files.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/hw_profiles/profile_yaml.h"

namespace tessera::api {
namespace {

Result<Profile> Read(std::string text, const std::string& name, const hw_profiles::Loader& load) {
  Profile::Content content;
  content.texts.emplace_back(name, text);
  const hw_profiles::Loader keep = [&](std::string_view file) {
    base::Expected<std::string> extended = load(file);
    if (extended) content.texts.emplace_back(file, *extended);
    return extended;
  };
  base::Expected<hw_profiles::Profile> profile =
      hw_profiles::ReadProfile(std::move(text), name, load ? keep : load);
  if (!profile) return BadInput(profile.error());
  content.profile = *std::move(profile);
  content.json = hw_profiles::WriteProfileJson(content.profile);
  return Profile(std::make_shared<const Profile::Content>(std::move(content)));
}

// Returns the profile with one entry replaced; the descriptions of operators stay.
Result<Profile> Replace(const Profile::Content& old, const std::string& path,
                        const std::string& value) {
  using Json = nlohmann::ordered_json;
  base::Diagnostic fault;
  fault.pointer = path;
  Json document = Json::parse(old.json);
  const Json replacement = Json::parse(value, nullptr, false);
  if (replacement.is_discarded()) {
    fault.message = "the new value is not JSON";
    fault.expected = "a number, true, false, a text in double quotes, a list or an object";
    fault.found = value;
    return BadInput(fault);
  }
  try {
    document.at(Json::json_pointer(path)) = replacement;
  } catch (const Json::exception&) {
    fault.message = "the profile has no such entry";
    fault.expected = "the JSON pointer of an entry in Profile::Json()";
    fault.hint = "\"/memories/sram/capacity_bytes\" is the capacity of the memory sram";
    return BadInput(fault);
  }
  Result<Profile> changed = Read(document.dump(), "profile with " + path + " = " + value, {});
  if (!changed) return changed;
  Profile::Content content = changed->Get();
  content.texts.insert(content.texts.end(), old.texts.begin(), old.texts.end());
  return Profile(std::make_shared<const Profile::Content>(std::move(content)));
}

// Descriptions of operators for imported files are read with networks, and no profile writes them.
Result<std::string> Render(const Profile::Content& content) {
  for (const auto& [name, text] : content.texts) {
    const base::Expected<base::YamlFile> file = base::YamlFile::Parse(text, name);
    if (!file) continue;
    base::YamlReader reader(*file);
    if (const base::YamlNode ops = reader.Root().Maybe("ops")) {
      return AsError(
          CallStatus::kUnsupported,
          ops.Located("the written profile would lack these 'ops'", "a profile without them",
                      "move 'ops' into a profile that extends this one"));
    }
  }
  return content.json;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Profile::Profile(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

Result<Profile> Profile::Load(const std::string& path) {
  return api::Guarded([&]() -> Result<Profile> {
    base::Expected<std::string> text = base::ReadInput(path);
    if (!text) return api::BadInput(text.error());
    return api::Read(*std::move(text), path,
                     [](std::string_view name) { return base::ReadInput(std::string(name)); });
  });
}

Result<Profile> Profile::Parse(std::string_view yaml, const std::string& name) {
  return api::Guarded([&] { return api::Read(std::string(yaml), name, {}); });
}

Result<Profile> Profile::With(const std::string& path, const std::string& value) const {
  return api::Guarded([&] { return api::Replace(*content_, path, value); });
}

const std::string& Profile::Name() const noexcept { return content_->profile.name; }

const std::string& Profile::Json() const noexcept { return content_->json; }

Result<std::string> Profile::Render() const {
  return api::Guarded([&] { return api::Render(*content_); });
}

Result<std::vector<std::string>> Profile::Files() const {
  return api::Guarded([&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    names.reserve(content_->texts.size());
    for (const auto& [name, text] : content_->texts) names.push_back(name);
    return names;
  });
}

}  // namespace v0
}  // namespace tessera

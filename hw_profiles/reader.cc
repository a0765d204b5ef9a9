#include "tessera/hw_profiles/reader.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/hw_profiles/sections.h"

namespace tessera::hw_profiles {
namespace {

using base::Expected;
using base::Unexpected;
using base::YamlFile;
using base::YamlNode;
using base::YamlReader;

constexpr size_t kMostFiles = 8;  // in a chain of extends

// The path that `extends: name` means when it stands in `file`.
std::string Resolve(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).lexically_normal().generic_string();
}

// The name in `extends` of a file, resolved; empty where it extends none.
Expected<std::string> FindParent(const YamlFile& file, const std::vector<std::string>& chain) {
  YamlReader reader(file);
  const YamlNode extends = reader.Root().Maybe("extends");
  std::string parent;
  if (extends) {
    const std::string name = extends.Text();
    parent = Resolve(chain.back(), name);
    if (std::find(chain.begin(), chain.end(), parent) != chain.end()) {
      extends.Complain("the profiles extend each other in a circle",
                       "a profile that does not lead back to '" + parent + "'");
    } else if (chain.size() >= kMostFiles) {
      extends.Complain("too many profiles extend each other",
                       "at most " + std::to_string(kMostFiles) + " files");
    }
  }
  if (reader.Failed()) return Unexpected(reader.TakeFault());
  return parent;
}

Expected<std::string> Load(const YamlFile& file, const std::string& parent, const Loader& loader) {
  YamlReader reader(file);
  const YamlNode extends = reader.Root().Maybe("extends");
  if (!loader) {
    extends.Complain("this profile extends another, and no other file can be read here", "",
                     "hand in the resolved profile");
    return Unexpected(reader.TakeFault());
  }
  Expected<std::string> text = loader(parent);
  if (text) return text;
  extends.Complain("cannot read '" + parent + "'", "a profile that can be read", text.error().message);
  return Unexpected(reader.TakeFault());
}

// The file and all that it extends, the extending first.
Expected<std::vector<YamlFile>> ReadChain(std::string text, std::string file_name, const Loader& loader) {
  std::vector<YamlFile> files;
  std::vector<std::string> chain;
  while (true) {
    Expected<YamlFile> file = YamlFile::Parse(std::move(text), file_name);
    if (!file) return Unexpected(std::move(file.error()));
    files.push_back(std::move(*file));
    chain.push_back(Resolve("", file_name));
    Expected<std::string> parent = FindParent(files.back(), chain);
    if (!parent) return Unexpected(std::move(parent.error()));
    if (parent->empty()) return files;
    Expected<std::string> loaded = Load(files.back(), *parent, loader);
    if (!loaded) return Unexpected(std::move(loaded.error()));
    text = *std::move(loaded);
    file_name = *std::move(parent);
  }
}

void ReadHead(const YamlNode& root, Profile& profile) {
  root.OnlyKeys({"schema", "name", "description", "extends", "clock_hz", "memories", "tile_memory", "engines",
                 "links", "roles", "tiling", "scratch", "rules", "table_bytes_per_channel", "ops"});
  root.At("schema").Integer(1, 1);
  profile.name = root.At("name").Text();
  if (const YamlNode description = root.Maybe("description")) profile.description = description.Text();
  profile.clock_hz = root.At("clock_hz").Number(1, kMostRate);
}

}  // namespace

Expected<Profile> ReadProfile(std::string text, std::string file_name, const Loader& loader) {
  Expected<std::vector<YamlFile>> files = ReadChain(std::move(text), std::move(file_name), loader);
  if (!files) return Unexpected(std::move(files.error()));

  YamlReader reader(*files);
  const YamlNode root = reader.Root();
  Profile profile;
  ReadHead(root, profile);
  ReadMemories(root, profile);
  ReadEngines(root, profile);
  ReadLinks(root, profile);
  ReadRoles(root, profile);
  ReadTiling(root, profile);
  ReadScratch(root, profile);
  ReadModes(root, profile);
  ReadRules(root, profile);
  if (!reader.Failed()) CheckProfile(root, profile);
  if (reader.Failed()) return Unexpected(reader.TakeFault());
  return profile;
}

}  // namespace tessera::hw_profiles

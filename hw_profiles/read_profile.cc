// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/hw_profiles/read_sections.h"

namespace tessera::hw_profiles {

void RequireName(const base::YamlNode& node, const std::string& name) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto follows = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
  };
  if (!name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), follows))
    return;
  node.ComplainOfKey("'" + name + "' is no name",
                     "letters, digits, '_' and '-', a letter or '_' first");
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

// Whether the sections of a profile are consistent: every tensor can be stored in its role's home,
// and can be moved from there to the tiles and back (docs/program.md, "How each tensor is
// held").
//
//     home is the tile memory      nothing is moved
//     home elsewhere, direct       the engine reads or writes it there
//     home elsewhere, otherwise    a link moves it, and data that returns needs a writable home
namespace {

using base::TensorRole;
using base::YamlNode;

// The value at the end of the path, or the absent place at which the path ends.
YamlNode Descend(YamlNode node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!node.IsMap()) break;
    node = node.Maybe(key);
  }
  return node;
}

// The accesses of the program to a tensor of a role at its home.
struct Traffic {
  bool read = false;
  bool written = false;
};

Traffic TrafficOf(TensorRole role) {
  switch (role) {
    case TensorRole::kNetworkInput:
    case TensorRole::kConstant:
      return {true, false};
    case TensorRole::kNetworkOutput:
      return {false, true};
    case TensorRole::kBoundary:
    case TensorRole::kFeature:
    case TensorRole::kState:
      return {true, true};
  }
  return {};
}

bool Offers(const Tiling& tiling, WeightPolicy policy) {
  return std::find(tiling.weights.begin(), tiling.weights.end(), policy) != tiling.weights.end();
}

// Whether some tensor of the role may have to be moved between `home` and the tile memory.
bool MayMove(const Profile& profile, TensorRole role, const Memory& home) {
  if (role == TensorRole::kConstant) {
    return std::any_of(profile.tiling.weights.begin(), profile.tiling.weights.end(),
                       [](WeightPolicy policy) { return policy != WeightPolicy::kDirect; });
  }
  const Traffic traffic = TrafficOf(role);
  const bool direct = !LayoutOf(profile, role).tiles_only;
  return (traffic.read && !(direct && home.direct_read)) ||
         (traffic.written && !(direct && home.direct_write));
}

// `node`: the place where the profile names this home of the role.
void CheckHome(const YamlNode& node, const Profile& profile, TensorRole role, int index) {
  if (index == profile.tile_memory) return;
  const Memory& home = profile.memories[static_cast<size_t>(index)];
  const std::string& tile_memory = profile.memories[static_cast<size_t>(profile.tile_memory)].name;
  const std::string name(base::NameOf(role));

  if (role == TensorRole::kFeature) {
    node.Complain("features live in tiles, which are in the tile memory", "'" + tile_memory + "'",
                  "remove this home");
  } else if (TrafficOf(role).written && !home.writable) {
    node.Complain(
        "'" + home.name + "' is not writable, and tensors of role " + name + " are written",
        "a memory with writable: true");
  } else if (MayMove(profile, role, home) &&
             LinkBetween(profile, index, profile.tile_memory) == nullptr) {
    node.Complain("no link joins '" + home.name + "' to the tile memory '" + tile_memory + "'",
                  "a link between [" + home.name + ", " + tile_memory + "]", "add it to links");
  }
}

// Complains about the tile memory in a list of homes, except as the first home of states. The
// content of the tile memory depends on the tiles, which are chosen after the homes; only the share
// of states does not (docs/program.md, "Several homes").
void CheckTileMemoryInList(const YamlNode& node, TensorRole role, bool is_first) {
  if (role != TensorRole::kState) {
    node.Complain("the tile memory is one of several homes",
                  "other memories, or '" + node.Text() + "' alone",
                  "remove it: how much room it has depends on the tiles");
  } else if (!is_first) {
    node.Complain("the tile memory comes after another home of state",
                  "'" + node.Text() + "' first in the list, or alone",
                  "move it to the front: states that it has room for are not moved");
  }
}

void CheckRole(const YamlNode& root, const Profile& profile, TensorRole role) {
  const RoleLayout& layout = LayoutOf(profile, role);
  const YamlNode node = Descend(root, {"roles", base::NameOf(role), "home"});
  if (!node.IsList()) return CheckHome(node, profile, role, layout.home);
  const std::vector<YamlNode> items = node.Items();
  for (size_t place = 0; place < items.size(); ++place) {
    const int home = HomeAt(layout, static_cast<int>(place));
    if (home == profile.tile_memory && items.size() > 1) {
      CheckTileMemoryInList(items[place], role, place == 0);
    } else {
      CheckHome(items[place], profile, role, home);
    }
  }
}

void CheckDirectWeights(const YamlNode& root, const Profile& profile) {
  if (!Offers(profile.tiling, WeightPolicy::kDirect)) return;
  const RoleLayout& layout = LayoutOf(profile, TensorRole::kConstant);
  const YamlNode weights = Descend(root, {"tiling", "weights"});
  for (size_t index = 0; index < profile.memories.size(); ++index) {
    const Memory& home = profile.memories[index];
    const int memory = static_cast<int>(index);
    if (!IsHomeOf(layout, memory) || memory == profile.tile_memory ||
        MayReadAt(profile, TensorRole::kConstant, memory))
      continue;
    for (const YamlNode& policy : weights.Items()) {
      if (policy.Text() != NameOf(WeightPolicy::kDirect)) continue;
      policy.Complain(
          "engines cannot read weights directly from '" + home.name + "', the home of constants",
          layout.tiles_only ? "tiles_only: false for the role" : "direct_read: true at that memory",
          layout.tiles_only ? "remove tiles_only of the role, or remove direct here"
                            : "add direct_read there, or remove direct here");
    }
  }
}

}  // namespace

void CheckProfile(const YamlNode& root, const Profile& profile) {
  for (size_t role = 0; role < profile.roles.size(); ++role)
    CheckRole(root, profile, static_cast<TensorRole>(role));
  CheckDirectWeights(root, profile);
}

namespace {

using base::Expected;
using base::Unexpected;
using base::YamlFile;
using base::YamlNode;
using base::YamlReader;

constexpr size_t kMostFiles = 8;  // in a chain of extends

// The path that `extends: name` means in `file`.
std::string Resolve(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).lexically_normal().generic_string();
}

// Returns the resolved name in `extends` of a file; empty if it extends none.
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
  extends.Complain("cannot read '" + parent + "'", "a profile that can be read",
                   text.error().message);
  return Unexpected(reader.TakeFault());
}

// Reads the file and all files that it extends, each before the one that it extends.
Expected<std::vector<YamlFile>> ReadChain(std::string text, std::string file_name,
                                          const Loader& loader) {
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
  RequireFields(root, kProfileFields);
  root.At("schema").Integer(1, 1);
  profile.name = root.At("name").Text();
  if (const YamlNode description = root.Maybe("description"))
    profile.description = description.Text();
  ReadFields(root, kProfileFields, profile);
}

std::optional<KnownError> ReadKnownError(const YamlNode& root) {
  const YamlNode node = root.Maybe("known_error");
  if (!node || IsDropped(node)) return std::nullopt;
  KnownError known;
  RequireFields(node, kKnownErrorFields);
  known.source = node.At("source").Text();
  ReadFields(node, kKnownErrorFields, known);
  if (known.nine_of_ten < known.median) {
    node.At("nine_of_ten")
        .Complain("nine of ten figures cannot be closer than half of them",
                  fmt::format("at least the median, {}", node.At("median").Text()));
  }
  return known;
}

// Reads the known error of each file of a chain, and returns that of the first: a profile has other
// cycles than those that it extends.
Expected<std::optional<KnownError>> ReadKnownErrors(std::span<const YamlFile> files) {
  std::optional<KnownError> of_first;
  for (const YamlFile& file : files) {
    YamlReader reader(file);
    const std::optional<KnownError> known = ReadKnownError(reader.Root());
    if (reader.Failed()) return Unexpected(reader.TakeFault());
    if (&file == &files.front()) of_first = known;
  }
  return of_first;
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
  ReadModes(root, profile);
  ReadTiling(root, profile);
  ReadScratch(root, profile);
  ReadRules(root, profile);
  if (!reader.Failed()) CheckProfile(root, profile);
  if (reader.Failed()) return Unexpected(reader.TakeFault());
  Expected<std::optional<KnownError>> known = ReadKnownErrors(*files);
  if (!known) return Unexpected(std::move(known.error()));
  profile.known_error = std::move(*known);
  return profile;
}

}  // namespace tessera::hw_profiles

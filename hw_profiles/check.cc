#include <algorithm>
#include <initializer_list>
#include <string>

#include "tessera/hw_profiles/sections.h"

// Whether the sections of a profile fit together: every tensor can be where its role's home is, and can get
// from there to the tiles and back (docs/program.md, "What becomes of each tensor").
//
//     home is the tile memory      nothing moves
//     home elsewhere, direct       the engine reads or writes it there
//     home elsewhere, else         a link moves it, and what comes back must be writable
namespace tessera::hw_profiles {
namespace {

using base::TensorRole;
using base::YamlNode;

// The value at the end of the path, or the absent place at which the path breaks off.
YamlNode Descend(YamlNode node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!node.IsMap()) break;
    node = node.Maybe(key);
  }
  return node;
}

// How the program may touch a tensor of a role at its home.
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
    case TensorRole::kBorder:
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
  return (traffic.read && !home.direct_read) || (traffic.written && !home.direct_write);
}

// `node`: where the profile names this home of the role.
void CheckHome(const YamlNode& node, const Profile& profile, TensorRole role, int index) {
  if (index == profile.tile_memory) return;
  const Memory& home = profile.memories[static_cast<size_t>(index)];
  const std::string& tile_memory = profile.memories[static_cast<size_t>(profile.tile_memory)].name;
  const std::string name(base::NameOf(role));

  if (role == TensorRole::kFeature) {
    node.Complain("features live in tiles, which are in the tile memory", "'" + tile_memory + "'",
                  "remove this home");
  } else if (TrafficOf(role).written && !home.writable) {
    node.Complain("'" + home.name + "' is not writable, and tensors of role " + name + " are written",
                  "a memory with writable: true");
  } else if (role == TensorRole::kState && !(home.direct_read && home.direct_write)) {
    node.Complain("state is never moved, and no engine reads and writes '" + home.name + "' directly",
                  "'" + tile_memory + "', or a memory with direct_read and direct_write");
  } else if (MayMove(profile, role, home) && LinkBetween(profile, index, profile.tile_memory) == nullptr) {
    node.Complain("no link joins '" + home.name + "' to the tile memory '" + tile_memory + "'",
                  "a link between [" + home.name + ", " + tile_memory + "]", "add it to links");
  }
}

// What has room in the tile memory depends on the tiles, which are chosen after the homes.
void CheckRole(const YamlNode& root, const Profile& profile, TensorRole role) {
  const RoleLayout& layout = LayoutOf(profile, role);
  const YamlNode node = Descend(root, {"roles", base::NameOf(role), "home"});
  if (!node.IsList()) return CheckHome(node, profile, role, layout.home);
  const std::vector<YamlNode> items = node.Items();
  for (size_t place = 0; place < items.size(); ++place) {
    const int home = HomeAt(layout, static_cast<int>(place));
    if (home == profile.tile_memory && items.size() > 1) {
      items[place].Complain("the tile memory is one of several homes",
                            "other memories, or '" + items[place].Text() + "' alone",
                            "remove it: how much room it has depends on the tiles");
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
    if (!IsHomeOf(layout, memory) || memory == profile.tile_memory || home.direct_read) continue;
    for (const YamlNode& policy : weights.Items()) {
      if (policy.Text() != NameOf(WeightPolicy::kDirect)) continue;
      policy.Complain("engines cannot read weights directly from '" + home.name + "', the home of constants",
                      "direct_read: true at that memory", "add direct_read there, or remove direct here");
    }
  }
}

}  // namespace

void CheckProfile(const YamlNode& root, const Profile& profile) {
  for (size_t role = 0; role < profile.roles.size(); ++role)
    CheckRole(root, profile, static_cast<TensorRole>(role));
  CheckDirectWeights(root, profile);
}

}  // namespace tessera::hw_profiles

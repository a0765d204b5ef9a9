// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tessera/hw_profiles/read_sections.h"

// Links, homes and layouts of tensor roles, tiling and scratch: the layout of programs on the
// memories.
namespace tessera::hw_profiles {
namespace {

using base::YamlNode;

// Reads a list of distinct names.
template <typename Kind>
std::vector<Kind> ReadNames(const YamlNode& node, std::span<const std::string_view> names) {
  std::vector<Kind> kinds;
  for (const YamlNode& item : node.Items()) {
    const auto kind = static_cast<Kind>(item.OneOf(names));
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
      item.Complain("repeated name '" + item.Text() + "'", "each name once");
    }
    kinds.push_back(kind);
  }
  return kinds;
}

// Reads the axes. Each is a name, or a map {axis, granularity, later}.
std::vector<AxisGranularity> ReadAxes(const YamlNode& node) {
  std::vector<AxisGranularity> axes;
  for (const YamlNode& item : node.Items()) {
    AxisGranularity axis;
    YamlNode name = item;
    if (item.IsMap()) {
      item.OnlyKeys({"axis", "granularity", "later"});
      name = item.At("axis");
      if (const YamlNode granularity = item.Maybe("granularity"))
        axis.granularity = granularity.Integer(1, kMostCount);
      if (const YamlNode later = item.Maybe("later")) axis.later = later.Boolean();
    }
    axis.axis = static_cast<base::Axis>(name.OneOf(base::AxisNames()));
    const auto same = [&](const AxisGranularity& other) { return other.axis == axis.axis; };
    if (std::any_of(axes.begin(), axes.end(), same)) {
      name.Complain("repeated axis '" + std::string(NameOf(axis.axis)) + "'", "each axis once");
    }
    axes.push_back(axis);
  }
  return axes;
}

// Reads one memory, or a list of memories in the order in which they are tried.
void ReadHomes(const YamlNode& node, const Profile& profile, RoleLayout& layout) {
  if (!node.IsList()) {
    layout.home = ReadMemoryName(node, profile);
    return;
  }
  std::vector<int> homes;
  for (const YamlNode& item : node.Items()) {
    const int home = ReadMemoryName(item, profile);
    if (std::find(homes.begin(), homes.end(), home) != homes.end()) {
      item.Complain("repeated memory '" + item.Text() + "'", "each memory once",
                    "remove it: no tensor gets past the first place of a memory to its second");
    }
    homes.push_back(home);
  }
  if (homes.empty()) {
    node.Complain("the list of homes is empty", "the name of a memory, or a list of at least one",
                  "remove the key to make the tile memory the home");
    return;
  }
  layout.home = homes.front();
  layout.next_homes.assign(homes.begin() + 1, homes.end());
}

}  // namespace

void ReadLinks(const YamlNode& root, Profile& profile) {
  const YamlNode section = root.Maybe("links");
  if (!section) return;
  for (const auto& [name, node] : section.Entries()) {
    RequireName(node, name);
    RequireFields(node, kLinkFields);
    Link link;
    link.name = name;
    const YamlNode between = node.At("between");
    const std::vector<YamlNode> ends = between.Items();
    if (ends.size() != 2) {
      between.Complain("a link has two ends", "a list of two memories");
      return;
    }
    link.first = ReadMemoryName(ends[0], profile);
    link.second = ReadMemoryName(ends[1], profile);
    if (link.first == link.second)
      ends[1].Complain("a link joins two memories, not one to itself", "another memory");
    if (const Link* other = LinkBetween(profile, link.first, link.second)) {
      between.Complain("link '" + other->name + "' joins these memories already",
                       "one link between two memories");
    }
    ReadFields(node, kLinkFields, link);
    profile.links.push_back(std::move(link));
  }
}

void ReadRoles(const YamlNode& root, Profile& profile) {
  profile.roles.assign(base::TensorRoleNames().size(), RoleLayout{});
  for (RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  const YamlNode section = root.Maybe("roles");
  if (!section) return;
  for (const auto& [name, node] : section.Entries()) {
    RoleLayout& role = profile.roles[node.KeyOneOf(base::TensorRoleNames())];
    RequireFields(node, kRoleFields);
    if (const YamlNode home = node.Maybe("home")) ReadHomes(home, profile, role);
    ReadFields(node, kRoleFields, role);
    if (role.stored_ratio &&
        &role != &profile.roles[static_cast<size_t>(base::TensorRole::kConstant)])
      node.At("stored_ratio").Complain("only constants are stored compressed", "no 'stored_ratio'");
  }
}

void ReadTiling(const YamlNode& root, Profile& profile) {
  Tiling& tiling = profile.tiling;
  tiling.halo = {HaloStorage::kRecompute};
  tiling.weights = {WeightPolicy::kResident};
  const YamlNode node = root.Maybe("tiling");
  if (!node) return;
  RequireFields(node, kTilingFields);
  if (const YamlNode axes = node.Maybe("axes")) tiling.axes = ReadAxes(axes);
  if (const YamlNode halo = node.Maybe("halo")) {
    tiling.halo = ReadNames<HaloStorage>(halo, HaloStorageNames());
    if (tiling.halo.empty()) halo.Complain("no way to treat halos is given", "at least recompute");
  }
  if (const YamlNode weights = node.Maybe("weights")) {
    tiling.weights = ReadNames<WeightPolicy>(weights, WeightPolicyNames());
    if (tiling.weights.empty())
      weights.Complain("no way to hold weights is given", "at least one policy");
    const bool only_split_k =
        std::all_of(tiling.weights.begin(), tiling.weights.end(),
                    [](WeightPolicy each) { return each == WeightPolicy::kSplitK; });
    if (only_split_k && !tiling.weights.empty()) {
      weights.Complain("most operators cannot be cut along K",
                       "another policy in addition to split_k");
    }
  }
  if (const YamlNode dma = node.Maybe("dma")) {
    if (dma.IsList()) {
      const std::vector<DmaSteps> steps = ReadNames<DmaSteps>(dma, DmaStepsNames());
      if (steps.size() < 2)
        dma.Complain("a list names what each subgraph may choose from",
                     "[double_buffered, serialized], or one name without a list");
      tiling.dma = DmaSteps::kDoubleBuffered;
      tiling.may_serialize = true;
    } else {
      tiling.dma = static_cast<DmaSteps>(dma.OneOf(DmaStepsNames()));
    }
  }
  const bool has_modes =
      profile.memories[static_cast<size_t>(profile.tile_memory)].modes.size() > 1;
  if (has_modes && tiling.dma == DmaSteps::kDoubleBuffered) tiling.may_serialize = true;
  if (const YamlNode kinds = node.Maybe("in_place")) {
    tiling.in_place = ReadNames<base::OperatorKind>(kinds, base::OperatorKindNames());
    const auto reads_neighbours = [](base::OperatorKind kind) {
      return !base::TraitsOf(kind).may_overwrite;
    };
    const auto found =
        std::find_if(tiling.in_place.begin(), tiling.in_place.end(), reads_neighbours);
    if (found != tiling.in_place.end()) {
      kinds.Complain(
          "'" + std::string(NameOf(*found)) +
              "' cannot work in place: it reads more than the element that it overwrites",
          "elementwise, depthwise, both or none: [elementwise, depthwise]");
    }
  }
  ReadFields(node, kTilingFields, tiling);
}

void ReadScratch(const YamlNode& root, Profile& profile) {
  const YamlNode section = root.Maybe("scratch");
  if (!section) return;
  for (const auto& [name, node] : section.Entries()) {
    Scratch scratch;
    scratch.kind = static_cast<base::OperatorKind>(node.KeyOneOf(base::OperatorKindNames()));
    RequireFields(node, kScratchFields);
    ReadFields(node, kScratchFields, scratch);
    if (const YamlNode factors = node.Maybe("factors")) {
      scratch.factors = ReadNames<ScratchFactor>(factors, ScratchFactorNames());
    }
    profile.scratch.push_back(std::move(scratch));
  }
}

}  // namespace tessera::hw_profiles

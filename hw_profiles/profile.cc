// SPDX-License-Identifier: Apache-2.0

#include "tessera/hw_profiles/profile.h"

#include <algorithm>
#include <array>

namespace tessera::hw_profiles {
namespace {

using base::OperatorKind;

constexpr std::array<std::string_view, 4> kHaloStorages = {"recompute", "rolling_buffer",
                                                           "line_buffer", "adjacent"};
constexpr std::array<std::string_view, 2> kDmaSteps = {"serialized", "double_buffered"};
constexpr std::array<std::string_view, 4> kWeightPolicies = {"resident", "streamed", "direct",
                                                             "split_k"};
constexpr std::array<std::string_view, 7> kScratchFactors = {
    "kernel_rows", "kernel_columns", "in_channels", "out_channels",
    "out_columns", "out_rows",       "out_batch"};

}  // namespace

std::optional<Profile> WithoutLaterAxes(const Profile& profile) {
  const auto is_later = [](const AxisGranularity& axis) { return axis.later; };
  if (std::none_of(profile.tiling.axes.begin(), profile.tiling.axes.end(), is_later))
    return std::nullopt;
  Profile without = profile;
  std::erase_if(without.tiling.axes, is_later);
  return without;
}

std::map<std::string, double> TotalsOf(const Profile& profile) {
  std::map<std::string, double> totals;
  const auto add = [&totals](const auto& fields, const auto& sections, std::string_view key) {
    for (const auto& field : fields) {
      if (field.key != key) continue;
      for (const auto& section : sections) {
        VisitValue(field, section,
                   [&](const auto& value) { totals[std::string(key)] += NumberOf(value); });
      }
    }
  };
  for (const ProfileTotal& total : kProfileTotals) {
    add(kMemoryFields, profile.memories, total.key);
    add(kEngineFields, profile.engines, total.key);
    add(kLinkFields, profile.links, total.key);
  }
  std::erase_if(totals, [](const auto& total) { return total.second == 0; });
  return totals;
}

const RoleLayout& LayoutOf(const Profile& profile, base::TensorRole role) {
  return profile.roles[static_cast<size_t>(role)];
}

int HomeAt(const RoleLayout& layout, int place) {
  if (place <= 0 || layout.next_homes.empty()) return layout.home;
  return layout.next_homes[std::min(static_cast<size_t>(place), layout.next_homes.size()) - 1];
}

bool IsHomeOf(const RoleLayout& layout, int memory) {
  return layout.home == memory || std::find(layout.next_homes.begin(), layout.next_homes.end(),
                                            memory) != layout.next_homes.end();
}

namespace {

bool HasHome(const Profile& profile, base::TensorRole role, bool Memory::*property) {
  const RoleLayout& layout = LayoutOf(profile, role);
  for (int i = 0; i < static_cast<int>(profile.memories.size()); ++i) {
    if (!layout.tiles_only && profile.memories[static_cast<size_t>(i)].*property &&
        i != profile.tile_memory && IsHomeOf(layout, i))
      return true;
  }
  return false;
}

}  // namespace

bool MayReadAtHome(const Profile& profile, base::TensorRole role) {
  return HasHome(profile, role, &Memory::direct_read);
}

bool MayWriteAtHome(const Profile& profile, base::TensorRole role) {
  return HasHome(profile, role, &Memory::direct_write);
}

bool MayReadAt(const Profile& profile, base::TensorRole role, int memory) {
  return !LayoutOf(profile, role).tiles_only &&
         profile.memories[static_cast<size_t>(memory)].direct_read;
}

bool MayWriteAt(const Profile& profile, base::TensorRole role, int memory) {
  return !LayoutOf(profile, role).tiles_only &&
         profile.memories[static_cast<size_t>(memory)].direct_write;
}

int64_t EnginesAtOnce(const Profile& profile) {
  if (!profile.tiling.concurrent || profile.tiling.dma != DmaSteps::kDoubleBuffered) return 1;
  const auto engines = std::count_if(profile.engines.begin(), profile.engines.end(),
                                     [](const Engine& engine) { return !engine.host; });
  return std::max<int64_t>(1, engines);
}

bool HasSeveralHomes(const Profile& profile) {
  return std::any_of(profile.roles.begin(), profile.roles.end(),
                     [](const RoleLayout& layout) { return !layout.next_homes.empty(); });
}

const Engine* EngineFor(const Profile& profile, OperatorKind kind, base::DataType type,
                        std::string_view named) {
  const auto may_run = [named](const Engine& engine) {
    return named.empty() || engine.name == named;
  };
  const auto found =
      std::find_if(profile.engines.begin(), profile.engines.end(), [&](const Engine& engine) {
        return may_run(engine) && ThroughputFor(engine, kind, type) != nullptr;
      });
  if (found != profile.engines.end()) return &*found;
  const Engine* host = HostOf(profile);
  return host != nullptr && may_run(*host) ? host : nullptr;
}

const Engine* HostOf(const Profile& profile) {
  const auto found = std::find_if(profile.engines.begin(), profile.engines.end(),
                                  [](const Engine& engine) { return engine.host.has_value(); });
  return found == profile.engines.end() ? nullptr : &*found;
}

const Throughput* ThroughputFor(const Engine& engine, OperatorKind kind, base::DataType type) {
  const Throughput* general = nullptr;
  for (const Throughput& throughput : engine.throughputs) {
    if (throughput.kind != kind) continue;
    if (throughput.type == type) return &throughput;
    if (!throughput.type && general == nullptr) general = &throughput;
  }
  const bool like_reshape =
      general == nullptr && base::TraitsOf(kind).moves_data && kind != OperatorKind::kReshape;
  return like_reshape ? ThroughputFor(engine, OperatorKind::kReshape, type) : general;
}

const Link* LinkBetween(const Profile& profile, int first, int second) {
  const auto joins = [&](const Link& link) {
    return (link.first == first && link.second == second) ||
           (link.first == second && link.second == first);
  };
  const auto found = std::find_if(profile.links.begin(), profile.links.end(), joins);
  return found == profile.links.end() ? nullptr : &*found;
}

problem::Memory AsProblemMemory(const Memory& memory) {
  return {.name = memory.name,
          .capacity = memory.capacity_bytes,
          .alignment = memory.alignment_bytes,
          .reserved = memory.reserved,
          .banks = memory.banks,
          .modes = memory.modes,
          .transitions = memory.transitions,
          .bank_sets = memory.bank_sets};
}

std::string_view NameOf(HaloStorage storage) { return kHaloStorages[static_cast<size_t>(storage)]; }
std::string_view NameOf(DmaSteps steps) { return kDmaSteps[static_cast<size_t>(steps)]; }
std::string_view NameOf(WeightPolicy policy) {
  return kWeightPolicies[static_cast<size_t>(policy)];
}
std::string_view NameOf(ScratchFactor factor) {
  return kScratchFactors[static_cast<size_t>(factor)];
}

std::span<const std::string_view> HaloStorageNames() { return kHaloStorages; }
std::span<const std::string_view> DmaStepsNames() { return kDmaSteps; }
std::span<const std::string_view> WeightPolicyNames() { return kWeightPolicies; }
std::span<const std::string_view> ScratchFactorNames() { return kScratchFactors; }

}  // namespace tessera::hw_profiles

// SPDX-License-Identifier: Apache-2.0

#include "draw_profile.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "draws.h"
#include "tessera/base/arithmetic.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/tests/draw_blocks.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_rates.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera::audit {
namespace {

using base::OperatorKind;
using base::Random;
using base::TensorRole;
using hw_profiles::HaloStorage;
using hw_profiles::Memory;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using problem::RequirementKind;

constexpr int64_t kEndless = int64_t{1} << 24;  // no limit in practice for networks that are drawn
constexpr int kDram = 0;
constexpr int kSram = 1;
constexpr int kFlash = 2;
constexpr std::string_view kSmallHome = "tcm";

// Roughly the bytes that operators of a network need at the same time.
struct Needs {
  int64_t most = 1;  // of one operator: its operands and results
  int64_t all = 0;   // of all tensors
};

Needs NeedsOf(const graph::Graph& network, int64_t alignment) {
  const auto bytes = [&](int tensor) {
    const graph::Tensor& facts = network.tensors[static_cast<size_t>(tensor)];
    return base::RoundUp(base::BytesOf(facts.type, graph::ElementsOf(facts.shape)), alignment);
  };
  Needs needs;
  for (const graph::Operator& op : network.operators) {
    int64_t sum = 0;
    for (const std::vector<int>* list : {&op.inputs, &op.weights, &op.outputs}) {
      for (const int tensor : *list) sum += bytes(tensor);
    }
    needs.most = std::max(needs.most, sum);
  }
  for (size_t i = 0; i < network.tensors.size(); ++i) needs.all += bytes(static_cast<int>(i));
  return needs;
}

int64_t Share(Random& random, int64_t bytes, double least, double most) {
  const double share = least + (most - least) * random.Real();
  return std::max<int64_t>(1, static_cast<int64_t>(share * static_cast<double>(bytes)));
}

hw_profiles::Port DrawPort(Random& random) {
  hw_profiles::Port port;
  port.read_bytes_per_cycle = OneOf(random, std::array{0.5, 1.0, 2.0, 4.0, 7.0, 16.0, 64.0});
  port.write_bytes_per_cycle =
      random.Chance(0.6) ? port.read_bytes_per_cycle : OneOf(random, std::array{1.0, 3.0, 8.0});
  port.shared = random.Chance(0.6);
  port.read_latency_cycles = random.Chance(0.5) ? 0 : random.Uniform(1, 20);
  port.write_latency_cycles = random.Chance(0.5) ? 0 : random.Uniform(1, 12);
  port.burst_bytes = OneOf(random, std::array<int64_t, 4>{1, 1, 4, 16});
  return port;
}

Memory DrawMemory(Random& random, std::string name, int64_t capacity) {
  Memory memory;
  memory.name = std::move(name);
  memory.capacity_bytes = capacity;
  memory.alignment_bytes = OneOf(random, std::array<int64_t, 6>{1, 1, 1, 4, 8, 3});
  memory.port = DrawPort(random);
  memory.read_pj_per_byte = OneOf(random, std::array{0.0, 1.0, 2.5, 10.0});
  memory.write_pj_per_byte = OneOf(random, std::array{0.0, 1.5, 3.0, 12.0});
  memory.leakage_mw = random.Chance(0.7) ? 0 : 0.25;
  memory.area_mm2 = random.Chance(0.7) ? 0 : random.Real();
  return memory;
}

void DrawMemories(Random& random, Profile& profile) {
  profile.memories = {DrawMemory(random, "dram", kEndless), DrawMemory(random, "sram", kEndless)};
  profile.tile_memory = kSram;
  profile.memories[kDram].direct_read = random.Chance(0.2);
  profile.memories[kDram].direct_write = random.Chance(0.15);
  if (random.Chance(0.25)) {
    profile.memories.push_back(DrawMemory(random, "flash", kEndless));
    profile.memories[kFlash].writable = random.Chance(0.2);
    profile.memories[kFlash].direct_read = random.Chance(0.6);
  }
  if (random.Chance(0.3)) {
    Memory& tcm =
        profile.memories.emplace_back(DrawMemory(random, std::string(kSmallHome), kEndless));
    tcm.direct_read =
        random.Chance(0.2) || profile.memories[profile.memories.size() - 2].direct_read;
    tcm.direct_write = random.Chance(0.2);
  }
}

// The memory that comes before others in lists of homes; -1: none.
int SmallHome(const Profile& profile) {
  return profile.memories.back().name == kSmallHome ? static_cast<int>(profile.memories.size()) - 1
                                                    : -1;
}

void DrawLinks(Random& random, Profile& profile) {
  for (int memory = 0; memory < static_cast<int>(profile.memories.size()); ++memory) {
    if (memory == kSram) continue;
    hw_profiles::Link link;
    link.name =
        memory == kDram ? "dma" : profile.memories[static_cast<size_t>(memory)].name + "_dma";
    link.first = memory;
    link.second = kSram;
    link.setup_cycles = random.Chance(0.5) ? 0 : random.Uniform(1, 15);
    link.alignment_bytes = OneOf(random, std::array<int64_t, 5>{1, 1, 1, 8, 6});
    link.dims = static_cast<int>(random.Uniform(1, 4));
    link.outstanding = static_cast<int>(random.Chance(0.6) ? 1 : random.Uniform(2, 3));
    link.area_mm2 = random.Chance(0.8) ? 0 : 0.125;
    profile.links.push_back(link);
  }
}

// One engine for every kind, with a drawn speed. Some draws have a second engine for a few kinds,
// which comes first.
void DrawEngines(Random& random, Profile& profile) {
  hw_profiles::Engine all = hw_profiles::EngineForEveryKind("pe");
  if (random.Chance(0.03)) all.throughputs.erase(all.throughputs.begin() + random.Uniform(0, 18));
  profile.engines = {std::move(all)};
  if (random.Chance(0.25)) {
    hw_profiles::Engine few = hw_profiles::EngineForEveryKind("vector");
    std::erase_if(few.throughputs, [&](const auto&) { return random.Chance(0.6); });
    if (!few.throughputs.empty()) profile.engines.insert(profile.engines.begin(), std::move(few));
  }
  for (hw_profiles::Engine& engine : profile.engines) {
    engine.mac_pj = OneOf(random, std::array{0.0, 0.5, 1.0});
    engine.operand_pj = OneOf(random, std::array{0.0, 0.0, 0.25});
    engine.area_mm2 = OneOf(random, std::array{0.0, 0.5, 0.7});
    engine.outstanding = static_cast<int>(random.Chance(0.7) ? 1 : random.Uniform(2, 3));
    engine.idle_cycles_between_tiles = random.Chance(0.5) ? 0 : random.Uniform(1, 40);
    for (hw_profiles::Throughput& throughput : engine.throughputs) {
      const bool multiplies = base::TraitsOf(throughput.kind).multiplies;
      throughput.start_cycles = random.Chance(0.4) ? 0 : random.Uniform(1, 9);
      throughput.cycles_per_output = multiplies ? (random.Chance(0.8) ? 0 : 0.5)
                                                : OneOf(random, std::array{0.0, 0.25, 1.0, 2.0});
      if (!multiplies) continue;
      throughput.cycles_per_step = OneOf(random, std::array{1.0, 1.0, 0.5, 2.0});
      throughput.unroll.out_channels = random.Uniform(1, 4);
      throughput.unroll.in_channels = random.Uniform(1, 4);
      if (random.Chance(0.3)) throughput.unroll.out_rows = random.Uniform(1, 3);
      if (random.Chance(0.3)) throughput.unroll.out_columns = random.Uniform(1, 3);
      if (random.Chance(0.1)) throughput.unroll.kernel_rows = random.Uniform(1, 3);
      if (random.Chance(0.1)) throughput.unroll.batch = 2;
      if (throughput.kind == base::OperatorKind::kDepthwise)
        throughput.fold_channels = random.Chance(0.3);
    }
  }
}

void DrawRoles(Random& random, Profile& profile) {
  profile.roles.assign(base::TensorRoleNames().size(), {});
  const bool one_memory = random.Chance(0.08);  // every feature map has its home in the tile memory
  for (size_t i = 0; i < profile.roles.size(); ++i) {
    const auto role = static_cast<TensorRole>(i);
    hw_profiles::RoleLayout& layout = profile.roles[i];
    layout.home = one_memory || random.Chance(0.12) ? kSram : kDram;
    if (role == TensorRole::kConstant) {
      layout.home = random.Chance(0.85) ? kDram : kSram;
      if (profile.memories.size() > kFlash && profile.memories[kFlash].name == "flash")
        layout.home = kFlash;
    }
    if (role == TensorRole::kFeature) layout.home = kSram;
    if (role == TensorRole::kState) layout.home = random.Chance(0.65) ? kDram : kSram;
    layout.alignment_bytes = OneOf(random, std::array<int64_t, 6>{1, 1, 1, 1, 4, 16});
    layout.channel_block = OneOf(random, std::array<int64_t, 6>{1, 1, 1, 1, 2, 4});
    layout.row_pitch_bytes = OneOf(random, std::array<int64_t, 6>{1, 1, 1, 1, 8, 3});
  }
}

// Roles whose home is not the tile memory may have the small memory before their home, or seldom
// behind it. States may have the tile memory before the others.
void DrawLists(Random& random, Profile& profile) {
  const int small = SmallHome(profile);
  for (hw_profiles::RoleLayout& layout : profile.roles) {
    if (layout.home == kSram || small < 0) continue;
    const double kind = random.Real();
    if (kind < 0.65) {
      layout.next_homes = {layout.home};
      layout.home = small;
    } else if (kind < 0.7) {
      layout.next_homes = {small};
    }
  }
  hw_profiles::RoleLayout& state = profile.roles[static_cast<size_t>(TensorRole::kState)];
  if (!random.Chance(0.4)) return;
  if (state.home == kSram) {
    state.next_homes = {kDram};
  } else {
    state.next_homes.insert(state.next_homes.begin(), state.home);
    state.home = kSram;
  }
}

template <typename Value>
std::vector<Value> SomeOf(Random& random, std::vector<Value> values, double chance) {
  std::erase_if(values, [&](Value) { return !random.Chance(chance); });
  random.Shuffle(std::span<Value>(values));
  return values;
}

void DrawTiling(Random& random, Profile& profile, const graph::Graph& network) {
  hw_profiles::Tiling& tiling = profile.tiling;
  const int64_t operators = static_cast<int64_t>(network.operators.size());
  const auto most_axes = static_cast<size_t>(operators > 5 ? 1 : operators > 3 ? 2 : 4);
  for (const base::Axis axis :
       SomeOf(random,
              std::vector{base::Axis::kRows, base::Axis::kRows, base::Axis::kColumns,
                          base::Axis::kChannels, base::Axis::kBatch},
              0.6)) {
    const auto same = [axis](const hw_profiles::AxisGranularity& other) {
      return other.axis == axis;
    };
    if (tiling.axes.size() == most_axes ||
        std::any_of(tiling.axes.begin(), tiling.axes.end(), same))
      continue;
    tiling.axes.push_back(
        {axis, random.Chance(0.75) ? 1 : random.Uniform(2, 4), random.Chance(0.3)});
  }
  tiling.halo = SomeOf(random,
                       std::vector{HaloStorage::kRecompute, HaloStorage::kRollingBuffer,
                                   HaloStorage::kLineBuffer, HaloStorage::kAdjacent},
                       operators > 4 ? 0.3 : 0.45);
  if (tiling.halo.empty()) tiling.halo = {HaloStorage::kRecompute};
  tiling.weights =
      SomeOf(random, std::vector{WeightPolicy::kResident, WeightPolicy::kStreamed}, 0.6);
  const hw_profiles::RoleLayout& constants = hw_profiles::LayoutOf(profile, TensorRole::kConstant);
  bool reads_directly = true;
  for (int memory = 0; memory < static_cast<int>(profile.memories.size()); ++memory) {
    const bool direct =
        memory == kSram || profile.memories[static_cast<size_t>(memory)].direct_read;
    reads_directly = reads_directly && (direct || !hw_profiles::IsHomeOf(constants, memory));
  }
  if (reads_directly && random.Chance(0.6)) tiling.weights.push_back(WeightPolicy::kDirect);
  if (tiling.weights.empty()) tiling.weights = {WeightPolicy::kResident};
  if (random.Chance(0.3)) tiling.weights.push_back(WeightPolicy::kSplitK);
  tiling.dma = random.Chance(0.5) ? hw_profiles::DmaSteps::kDoubleBuffered
                                  : hw_profiles::DmaSteps::kSerialized;
  tiling.may_serialize = tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && random.Chance(0.5);
  tiling.concurrent = profile.engines.size() > 1 && random.Chance(0.5);
  tiling.implicit_padding = random.Chance(0.65);
  tiling.in_place =
      SomeOf(random, std::vector{OperatorKind::kElementwise, OperatorKind::kDepthwise}, 0.4);
  tiling.weight_granularity_channels = random.Uniform(1, 3);
  tiling.k_granularity = random.Uniform(1, 4);
}

void DrawScratch(Random& random, Profile& profile) {
  profile.table_bytes_per_channel = random.Chance(0.6) ? 0 : random.Uniform(1, 5);
  std::vector<OperatorKind> kinds;
  for (int64_t count = random.Chance(0.7) ? 0 : random.Uniform(1, 2); count > 0; --count) {
    const OperatorKind kind = AnyUpTo(random, OperatorKind::kOpaque);
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    kinds.push_back(kind);
    hw_profiles::Scratch scratch;
    scratch.kind = kind;
    scratch.bytes = random.Uniform(1, 4);
    const auto factor = AnyUpTo(random, hw_profiles::ScratchFactor::kOutBatch);
    if (random.Chance(0.7)) scratch.factors = {factor};
    profile.scratch.push_back(std::move(scratch));
  }
}

// Draws banks, and in some draws modes; the memory's size is already known.
// At most two groups. A few banks are in none.
void DrawBankGroups(Random& random, Memory& memory) {
  problem::BankSets groups(2);
  for (int bank = 0; bank < static_cast<int>(memory.banks.size()); ++bank) {
    if (random.Chance(0.95)) groups[random.Chance(0.6) ? 0 : 1].push_back(bank);
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  if (!groups.empty()) memory.bank_sets["bank_groups"] = std::move(groups);
}

void DrawBanks(Random& random, Profile& profile) {
  if (!random.Chance(0.15)) return;
  Memory& memory = profile.memories[kSram];
  const int64_t banks = random.Uniform(2, 3);
  const int64_t each =
      base::RoundUp(base::CeilDiv(memory.capacity_bytes, banks), memory.alignment_bytes);
  memory.capacity_bytes = each * banks;
  for (int64_t bank = 0; bank < banks; ++bank) {
    problem::Bank drawn;
    drawn.name = "bank" + std::to_string(bank);
    drawn.range = {bank * each, (bank + 1) * each};
    if (random.Chance(0.15)) drawn.ports.total = static_cast<int>(random.Uniform(2, 4));
    if (random.Chance(0.1)) drawn.ports.reads = 2;
    memory.banks.push_back(std::move(drawn));
  }
  memory.span = AnyUpTo(random, problem::Span::kSingle);
  if (random.Chance(0.6)) DrawBankGroups(random, memory);
  if (!random.Chance(0.4)) return;
  const int64_t modes = random.Uniform(2, 3);
  for (int64_t mode = 0; mode < modes; ++mode) {
    problem::Mode drawn;
    drawn.name = "mode" + std::to_string(mode);
    for (int64_t bank = 0; bank < banks; ++bank) {
      problem::BankMode& state = drawn.banks.emplace_back();
      if (mode > 0) state.off = random.Chance(0.05);
      if (state.off) continue;
      if (bank == 0 || random.Chance(0.8))
        state.allowed.push_back({"", problem::AccessKind::kRead});
      if (random.Chance(0.8))
        state.allowed.push_back({random.Chance(0.7) ? "" : "dma", problem::AccessKind::kWrite});
    }
    const auto is_idle = [](const problem::BankMode& state) { return state.allowed.empty(); };
    if (std::all_of(drawn.banks.begin(), drawn.banks.end(), is_idle))
      drawn.banks.back() = {false, {{"", problem::AccessKind::kRead}}};
    memory.modes.push_back(std::move(drawn));
  }
  if (!random.Chance(0.4)) return;
  memory.transitions.emplace();
  for (int from = 0; from < static_cast<int>(memory.modes.size()); ++from) {
    for (int to = 0; to < static_cast<int>(memory.modes.size()); ++to) {
      if (from != to && random.Chance(0.7)) memory.transitions->emplace_back(from, to);
    }
  }
}

problem::Requirement DrawRequirement(Random& random, const Memory& memory) {
  problem::Requirement wanted;
  const bool grouped = !memory.bank_sets.empty();
  wanted.kind = AnyUpTo(
      random, grouped ? RequirementKind::kDifferentBankGroup : RequirementKind::kCommonDelta);
  if (grouped && random.Chance(0.3)) wanted.kind = RequirementKind::kSameBankGroup;
  switch (wanted.kind) {
    case RequirementKind::kOffset:
    case RequirementKind::kDifference:
      wanted.multiple = random.Uniform(1, 16);
      wanted.residue = random.Chance(0.6) ? 0 : random.Uniform(0, wanted.multiple - 1);
      break;
    case RequirementKind::kNoCrossing:
      wanted.multiple = random.Uniform(8, 64);
      break;
    case RequirementKind::kWindow:
      wanted.window = {0, std::max<int64_t>(1, Share(random, memory.capacity_bytes, 0.5, 1.2))};
      break;
    case RequirementKind::kBanks:
      if (memory.banks.empty()) {
        wanted.kind = RequirementKind::kOffset;
        wanted.multiple = 2;
      } else {
        wanted.banks = {0};
        if (random.Chance(0.5)) wanted.banks.push_back(1);
      }
      break;
    case RequirementKind::kDistance:
    case RequirementKind::kXorDistance:
      wanted.distance = int64_t{1} << random.Uniform(3, 7);
      break;
    case RequirementKind::kGuard:
      wanted.before = random.Uniform(0, 2);
      wanted.after = random.Uniform(0, 4);
      break;
    default:
      break;
  }
  return wanted;
}

void DrawRules(Random& random, Profile& profile) {
  const double none = profile.memories[kSram].bank_sets.empty() ? 0.82 : 0.4;
  for (int64_t count = random.Chance(none) ? 0 : random.Uniform(1, 2); count > 0; --count) {
    hw_profiles::Rule rule;
    rule.name = "rule " + std::to_string(count);
    rule.require = DrawRequirement(random, profile.memories[kSram]);
    hw_profiles::Selector& select = rule.select;
    if (random.Chance(0.5))
      select.roles = {OneOf<std::string>(
          random, std::array<std::string, 4>{"constant", "feature", "network_input", "scratch"})};
    if (random.Chance(0.2)) select.operators = {OperatorKind::kConv, OperatorKind::kElementwise};
    if (random.Chance(0.2))
      select.sizes =
          random.Chance(0.5) ? problem::SizeRange{16, base::kMaxTotal} : problem::SizeRange{1, 32};
    if (random.Chance(0.1)) select.types = {base::DataType::kInt8};
    if (random.Chance(0.1)) select.name = random.Chance(0.5) ? "t*" : "w?";
    const bool set = TraitsOf(rule.require.kind).sets && random.Chance(0.5);
    if (problem::IsPairwise(rule.require.kind) && !set) {
      if (random.Chance(0.5)) {
        select.ping_pong = true;
      } else {
        select.operands = {{hw_profiles::OperandKind::kInput, 0},
                           {hw_profiles::OperandKind::kOutput, 0}};
        if (random.Chance(0.4)) select.operands[1] = {hw_profiles::OperandKind::kConstant, 0};
      }
    }
    profile.rules.push_back(std::move(rule));
  }
}

void DrawCapacities(Random& random, Profile& profile, const graph::Graph& network) {
  int64_t alignment = profile.memories[kSram].alignment_bytes;
  for (const hw_profiles::RoleLayout& role : profile.roles)
    alignment = std::max(alignment, role.alignment_bytes);
  const Needs needs = NeedsOf(network, alignment);
  const double kind = random.Real();
  int64_t& tile_memory = profile.memories[kSram].capacity_bytes;
  tile_memory = kind < 0.12  ? Share(random, needs.most, 0.3, 1.0)
                : kind < 0.5 ? Share(random, needs.most, 1.0, 3.0)
                             : Share(random, needs.all, 1.0, 3.0);
  tile_memory = std::max<int64_t>(tile_memory, 4);
  if (random.Chance(0.3))
    profile.memories[kDram].capacity_bytes = Share(random, needs.all, 0.6, 2.0);
  if (const int small = SmallHome(profile); small >= 0) {
    Memory& tcm = profile.memories[static_cast<size_t>(small)];
    tcm.capacity_bytes = Share(random, needs.all, 0.05, 0.9);
    if (random.Chance(0.1)) tcm.reserved = {{{0, random.Uniform(1, tcm.capacity_bytes)}, "drawn"}};
  }
  if (random.Chance(0.1)) {
    const int64_t begin = random.Uniform(0, tile_memory - 1);
    profile.memories[kSram].reserved = {
        {{begin, std::min(tile_memory, begin + random.Uniform(1, 16))}, "drawn"}};
  }
}

// Output blocks, and what else only costs.
void DrawCostsOfBlocks(Random& random, Profile& profile) {
  for (hw_profiles::Engine& engine : profile.engines) {
    if (engine.host) continue;
    for (hw_profiles::Throughput& throughput : engine.throughputs) {
      if (random.Chance(0.1)) hw_profiles::DrawSums(random, throughput);
    }
    if (random.Chance(0.2)) hw_profiles::DrawBlocks(random, engine);
  }
  for (hw_profiles::Link& link : profile.links) link.pipelined = random.Chance(0.15);
  for (hw_profiles::RoleLayout& role : profile.roles) {
    if (random.Chance(0.1)) role.request_bytes = random.Uniform(1, 12);
    role.tiles_only = random.Chance(0.15);
  }
  if (random.Chance(0.08))
    profile.roles[static_cast<size_t>(TensorRole::kConstant)].stored_ratio =
        OneOf(random, std::array{0.4, 0.75, 1.3});
  if (std::count(profile.tiling.weights.begin(), profile.tiling.weights.end(),
                 WeightPolicy::kDirect) > 0)
    profile.roles[static_cast<size_t>(TensorRole::kConstant)].tiles_only = false;
}

}  // namespace

Profile AsRead(const Profile& profile) {
  base::Expected<Profile> read =
      hw_profiles::ReadProfile(hw_profiles::WriteProfileJson(profile), "drawn.json", {});
  if (!read) throw std::logic_error("a drawn profile is refused: " + base::Format(read.error()));
  return *std::move(read);
}

Profile DrawProfile(Random& random, const graph::Graph& network) {
  Profile profile;
  profile.name = "drawn";
  profile.clock_hz = 1e9;
  DrawMemories(random, profile);
  DrawLinks(random, profile);
  DrawEngines(random, profile);
  DrawRoles(random, profile);
  DrawLists(random, profile);
  DrawTiling(random, profile, network);
  DrawScratch(random, profile);
  DrawCapacities(random, profile, network);
  DrawBanks(random, profile);
  DrawRules(random, profile);
  if (random.Chance(0.05)) DrawHost(random, profile);
  DrawCostsOfBlocks(random, profile);
  if (random.Chance(0.3)) hw_profiles::DrawDecimalRates(random, profile);
  return AsRead(profile);
}

}  // namespace tessera::audit

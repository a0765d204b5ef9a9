// SPDX-License-Identifier: Apache-2.0

#include "random_program.h"

#include <string>
#include <utility>

#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/program.h"
#include "tessera/tests/draw_blocks.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_rates.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera::search {

using base::OperatorKind;
using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

void DrawWeights(Random& random, graph::Graph& graph) {
  std::vector<int> before;
  for (graph::Operator& op : graph.operators) {
    const bool convolves = op.kind == OperatorKind::kConv || op.kind == OperatorKind::kDepthwise;
    if (!convolves && op.kind != OperatorKind::kElementwise) continue;
    if (random.Chance(0.2)) continue;
    if (!before.empty() && random.Chance(0.1)) {
      op.weights = {before.back()};
      continue;
    }
    const graph::Shape& output = graph.tensors[static_cast<size_t>(op.outputs.front())].shape;
    graph::Tensor weights;
    weights.id = "w" + std::to_string(graph.tensors.size());
    weights.shape = {convolves ? output[1] : 3, random.Uniform(1, 4)};
    weights.constant = true;
    op.weights = {static_cast<int>(graph.tensors.size())};
    before.push_back(op.weights.front());
    graph.tensors.push_back(std::move(weights));
  }
}

namespace {

hw_profiles::Memory MemoryOf(Random& random, std::string name) {
  hw_profiles::Memory memory;
  memory.name = std::move(name);
  memory.capacity_bytes = 1 << 30;
  memory.alignment_bytes = random.Chance(0.7) ? 1 : 8;
  return memory;
}

// A second memory outside the tile memory, too small for some tensors, and lists of homes for some
// roles.
void DrawHomes(Random& random, Profile& profile) {
  hw_profiles::Memory memory = MemoryOf(random, "tcm");
  memory.capacity_bytes = random.Uniform(8, 400);
  memory.direct_read = profile.memories[0].direct_read;
  memory.direct_write = random.Chance(0.3);
  if (random.Chance(0.2))
    memory.reserved = {{{random.Uniform(0, 3), random.Uniform(4, 8)}, "drawn"}};
  profile.memories.push_back(std::move(memory));
  hw_profiles::Link link;
  link.name = "tcm_dma";
  link.first = random.Chance(0.5) ? 2 : 1;
  link.second = 3 - link.first;
  link.alignment_bytes = random.Chance(0.7) ? 1 : 4;
  profile.links.push_back(link);
  for (hw_profiles::RoleLayout& role : profile.roles) {
    if (role.home != 0 || !random.Chance(0.6)) continue;
    role.home = 2;
    role.next_homes = {0};
  }
}

}  // namespace

Profile RandomMachine(Random& random) {
  Profile profile;
  profile.name = "any";
  profile.clock_hz = 1e9;
  profile.memories = {MemoryOf(random, "dram"), MemoryOf(random, "sram")};
  profile.memories[0].direct_read = random.Chance(0.3);
  profile.memories[0].direct_write = random.Chance(0.3);
  profile.tile_memory = 1;
  hw_profiles::Link link;
  link.name = "dma";
  link.second = 1;
  link.alignment_bytes = random.Chance(0.7) ? 1 : 12;
  profile.links = {link};
  profile.engines = {hw_profiles::EngineForEveryKind("pe")};
  profile.roles.resize(base::TensorRoleNames().size());
  for (hw_profiles::RoleLayout& role : profile.roles) {
    role.home = random.Chance(0.2) ? 1 : 0;
    role.alignment_bytes = random.Chance(0.7) ? 1 : 16;
    role.channel_block = random.Chance(0.7) ? 1 : 4;
    role.row_pitch_bytes = random.Chance(0.7) ? 1 : 8;
  }
  profile.roles[static_cast<size_t>(base::TensorRole::kFeature)].home = 1;
  profile.tiling.dma = random.Chance(0.5) ? hw_profiles::DmaSteps::kSerialized
                                          : hw_profiles::DmaSteps::kDoubleBuffered;
  profile.tiling.may_serialize =
      profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && random.Chance(0.4);
  profile.tiling.axes = {{base::Axis::kRows, 1},
                         {base::Axis::kColumns, 1},
                         {base::Axis::kChannels, 1},
                         {base::Axis::kBatch, 1}};
  profile.tiling.weights = {WeightPolicy::kResident, WeightPolicy::kStreamed,
                            WeightPolicy::kDirect};
  profile.tiling.halo = {HaloStorage::kRecompute, HaloStorage::kRollingBuffer,
                         HaloStorage::kLineBuffer, HaloStorage::kAdjacent};
  profile.tiling.implicit_padding = random.Chance(0.7);
  profile.tiling.weight_granularity_channels = random.Uniform(1, 3);
  if (random.Chance(0.7))
    profile.tiling.in_place = {OperatorKind::kElementwise, OperatorKind::kDepthwise};
  if (random.Chance(0.3)) {
    profile.scratch = {
        {OperatorKind::kConv,
         2,
         {hw_profiles::ScratchFactor::kOutRows, hw_profiles::ScratchFactor::kInChannels}}};
  }
  profile.table_bytes_per_channel = random.Chance(0.7) ? 0 : 5;
  if (random.Chance(0.4)) DrawHomes(random, profile);
  hw_profiles::RoleLayout& state = profile.roles[static_cast<size_t>(base::TensorRole::kState)];
  if (state.home == 1 && random.Chance(0.5)) state.next_homes = {0};
  if (random.Chance(0.1)) DrawHost(random, profile);
  return profile;
}

void DrawPaces(Random& random, Profile& profile) {
  for (hw_profiles::Memory& memory : profile.memories) {
    memory.port = {.read_bytes_per_cycle = static_cast<double>(random.Uniform(1, 16)),
                   .write_bytes_per_cycle = static_cast<double>(random.Uniform(1, 16)),
                   .shared = random.Chance(0.5),
                   .read_latency_cycles = random.Uniform(0, 9),
                   .write_latency_cycles = random.Uniform(0, 9),
                   .burst_bytes = random.Uniform(1, 8)};
    memory.read_pj_per_byte = static_cast<double>(random.Uniform(0, 9));
    memory.write_pj_per_byte = static_cast<double>(random.Uniform(0, 9));
    memory.leakage_mw = static_cast<double>(random.Uniform(0, 2));
  }
  for (hw_profiles::Link& link : profile.links) {
    link.setup_cycles = random.Uniform(0, 9);
    link.outstanding = static_cast<int>(random.Uniform(1, 3));
  }
  profile.engines[0].mac_pj = 0.5;
  profile.engines[0].operand_pj = random.Chance(0.5) ? 0 : 0.25;
  profile.engines[0].outstanding = static_cast<int>(random.Uniform(1, 3));
  profile.engines[0].idle_cycles_between_tiles = random.Chance(0.5) ? 0 : random.Uniform(1, 60);
  for (hw_profiles::Throughput& throughput : profile.engines[0].throughputs) {
    throughput.start_cycles = random.Uniform(0, 9);
    throughput.cycles_per_output = random.Uniform(0, 2);
    throughput.unroll.out_rows = random.Uniform(1, 3);
    throughput.unroll.out_channels = random.Uniform(1, 3);
    if (random.Chance(0.3)) hw_profiles::DrawSums(random, throughput);
  }
  hw_profiles::Engine& engine = profile.engines[0];
  if (!engine.host && random.Chance(0.4)) hw_profiles::DrawBlocks(random, engine);
  for (hw_profiles::Link& link : profile.links) link.pipelined = random.Chance(0.3);
  for (hw_profiles::RoleLayout& role : profile.roles) {
    if (random.Chance(0.2)) role.request_bytes = random.Uniform(1, 12);
    role.tiles_only = random.Chance(0.2);
  }
  if (random.Chance(0.4)) hw_profiles::DrawDecimalRates(random, profile);
}

encoder::program::SubgraphChoice RandomChoice(Random& random, const graph::Graph& graph,
                                              const Profile& profile, graph::Interval interval) {
  const graph::Operator& last = graph.operators[static_cast<size_t>(interval.last)];
  const graph::Shape& output = graph.tensors[static_cast<size_t>(last.outputs.front())].shape;
  encoder::program::SubgraphChoice choice{interval, output, {}};
  if (IsHosted(graph, profile, interval.first)) {
    choice.policy.weights = WeightPolicy::kDirect;
    return choice;
  }
  for (size_t axis = 0; axis < output.size(); ++axis) {
    const bool rows = graph::tiling::AxisOf(output, base::Axis::kRows) == axis;
    const bool named = rows || graph::tiling::AxisOf(output, base::Axis::kColumns) == axis ||
                       graph::tiling::AxisOf(output, base::Axis::kChannels) == axis ||
                       graph::tiling::AxisOf(output, base::Axis::kBatch) == axis;
    if (!named || output[axis] < 2 || !random.Chance(rows ? 0.8 : 0.2)) continue;
    if (graph::tiling::CanCut(graph, interval, axis))
      choice.tile[axis] = random.Uniform(1, output[axis] - 1);
  }
  choice.policy.weights = static_cast<WeightPolicy>(random.Uniform(0, 2));
  choice.policy.in_place = random.Chance(0.5);
  choice.policy.serialized = profile.tiling.may_serialize && random.Chance(0.5);
  if (encoder::program::MayKeepRows(profile, output, choice.tile) && random.Chance(0.8))
    choice.policy.halo = static_cast<HaloStorage>(random.Uniform(1, 3));
  return choice;
}

std::vector<int> RandomKept(Random& random, const graph::Graph& graph, const Profile& profile,
                            const std::vector<encoder::program::SubgraphChoice>& choices) {
  std::vector<int> kept;
  if (hw_profiles::LayoutOf(profile, base::TensorRole::kBoundary).home == profile.tile_memory)
    return kept;
  for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const bool wanted = random.Chance(0.5);
    if (wanted && !encoder::program::FindUnkeepable(graph, choices, {&tensor, 1}))
      kept.push_back(tensor);
  }
  return kept;
}

}  // namespace tessera::search

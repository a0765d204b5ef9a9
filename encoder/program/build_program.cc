// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/build_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/buffer_builder.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/program_template.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/encoder/program/state_aliasing.h"

namespace tessera::encoder::program {

namespace {

using problem::Bytes;

void Append(std::vector<BufferBuilder> drafts, Program& program) {
  for (BufferBuilder& draft : drafts) {
    program.problem.buffers.push_back(std::move(draft.buffer));
    program.buffers.push_back(draft.meaning);
  }
}

const graph::tiling::Extents& LargestOf(const graph::tiling::TiledSubgraph& tiling, int tensor) {
  return tiling.largest[graph::tiling::SlotOf(tiling, tensor)];
}

NamedExtents NamedLargest(const graph::Graph& graph, const graph::tiling::TiledSubgraph& tiling,
                          const std::vector<int>& operands) {
  if (operands.empty()) return {};
  const int tensor = operands.front();
  return NameExtents(graph.tensors[static_cast<size_t>(tensor)].shape, LargestOf(tiling, tensor));
}

// The largest part of a result that an operator makes: everything that is needed, unless rows are
// kept.
NamedExtents NamedMade(const graph::Graph& graph, const graph::tiling::TiledSubgraph& tiling,
                       const std::vector<int>& results) {
  NamedExtents made = NamedLargest(graph, tiling, results);
  if (results.empty() || tiling.rows.empty()) return made;
  const graph::Shape& shape = graph.tensors[static_cast<size_t>(results.front())].shape;
  if (graph::tiling::AxisOf(shape, base::Axis::kRows))
    made.rows = tiling.rows[graph::tiling::SlotOf(tiling, results.front())].made;
  return made;
}

// The bytes of a buffer of that kind for one tensor.
Bytes BytesAs(BufferKind kind, const graph::Graph& graph, const hw_profiles::Profile& profile,
              const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling, int tensor,
              int64_t alignment) {
  const TensorUse& use = UseOf(uses, tensor);
  std::vector<int> readers = use.readers;
  for (int& reader : readers) reader += uses.interval.first;
  const graph::Tensor& feature = graph.tensors[static_cast<size_t>(tensor)];
  const NamedExtents extents = NameExtents(feature.shape, LargestOf(tiling, tensor));
  const Pads pads = PadsFor(graph, profile, readers);
  if (!use.cached)
    return FeatureBytes(hw_profiles::LayoutOf(profile, use.role), feature.type, extents, pads);
  return CachedBytes(profile, kind, uses, use, tiling.rows[graph::tiling::SlotOf(tiling, tensor)],
                     feature.type, extents, pads, alignment);
}

// The scratch that the profile states for an operator, followed by one channel of its result if it
// works channel by channel; at least 1, as every buffer.
Bytes ScratchOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling, int index) {
  const graph::Operator& op = graph.operators[static_cast<size_t>(index)];
  Bytes bytes = 0;
  if (HasScratch(profile, op)) {
    bytes = ScratchBytes(profile, op, NamedLargest(graph, tiling, op.inputs),
                         NamedMade(graph, tiling, op.outputs));
  }
  if (std::binary_search(uses.by_channel.begin(), uses.by_channel.end(),
                         index - uses.interval.first))
    bytes = base::CheckedAdd(bytes, ChannelBytes(graph, tiling, op)).value_or(base::kMaxTotal);
  return std::max<Bytes>(1, bytes);
}

}  // namespace

Bytes KSliceBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling,
                  int tensor) {
  const KCut& cut = *uses.split_k;
  if (cut.constant && cut.constant->tensor == tensor) {
    const graph::tiling::Extents& result =
        LargestOf(tiling, graph.operators[static_cast<size_t>(cut.op)].outputs.front());
    const Bytes content = ConstantSliceBytes(graph, cut, result, cut.granularity);
    const Bytes bytes = base::CheckedAdd(content, ConstantTableBytes(profile, cut, result))
                            .value_or(base::kMaxTotal);
    return std::max<Bytes>(1, bytes);
  }
  const auto feature =
      std::find_if(cut.features.begin(), cut.features.end(),
                   [tensor](const KOperand& each) { return each.tensor == tensor; });
  const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
  const graph::tiling::Extents extents =
      SliceOf(*feature, LargestOf(tiling, tensor), cut.granularity);
  return FeatureBytes(hw_profiles::LayoutOf(profile, UseOf(uses, tensor).role), facts.type,
                      NameExtents(facts.shape, extents), PadsFor(graph, profile, {cut.op}));
}

namespace {

Bytes SizeOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const ProgramTemplate& program_template,
             std::span<const graph::tiling::TiledSubgraph> tilings, size_t index) {
  const BufferUse& buffer = program_template.program.buffers[index];
  const auto subgraph = static_cast<size_t>(buffer.subgraph);
  switch (buffer.kind) {
    case BufferKind::kTile:
    case BufferKind::kRollingBuffer:
    case BufferKind::kLine:
    case BufferKind::kHalo:
      return BytesAs(buffer.kind, graph, profile, program_template.uses[subgraph],
                     tilings[subgraph], buffer.tensor,
                     program_template.program.problem.buffers[index].alignment);
    case BufferKind::kSlice:
      if (!program_template.uses[subgraph].split_k)
        return program_template.program.problem.buffers[index].size;
      return KSliceBytes(graph, profile, program_template.uses[subgraph], tilings[subgraph],
                         buffer.tensor);
    case BufferKind::kAccumulator: {
      const graph::Operator& op = graph.operators[static_cast<size_t>(buffer.op)];
      return AccumulatorBytes(graph, op, LargestOf(tilings[subgraph], op.outputs.front()));
    }
    case BufferKind::kScratch:
      return ScratchOf(graph, profile, program_template.uses[subgraph], tilings[subgraph],
                       buffer.op);
    default:
      return program_template.program.problem.buffers[index].size;
  }
}

// Lists each transfer of a step once, ascending.
void ListOnce(std::vector<StepUse>& steps) {
  for (StepUse& step : steps) {
    std::sort(step.transfers.begin(), step.transfers.end());
    step.transfers.erase(std::unique(step.transfers.begin(), step.transfers.end()),
                         step.transfers.end());
  }
}

// Puts results in place channel by channel where that is sound, and adds scratch for operators that
// had none.
void WorkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   ProgramTemplate& program_template) {
  const auto subgraphs = static_cast<int>(program_template.uses.size());
  problem::Problem& problem = program_template.program.problem;
  SharedPlaces places(problem.buffers, problem.relations);
  for (int s = 0; s < subgraphs; ++s)
    AddByChannel(graph, profile, program_template, s, places, problem.relations);
  for (int s = 0; s < subgraphs; ++s) {
    const SubgraphUses& uses = program_template.uses[static_cast<size_t>(s)];
    for (const int k : uses.by_channel) {
      if (HasScratch(profile, uses.OperatorAt(graph, k))) continue;
      Append(DraftScratch(graph, profile, uses, s,
                          program_template.timelines[static_cast<size_t>(s)], k),
             program_template.program);
    }
  }
}

}  // namespace

ProgramTemplate BuildProgramTemplate(const graph::Graph& graph,
                                     const std::vector<graph::Usage>& usages,
                                     const hw_profiles::Profile& profile,
                                     std::vector<SubgraphUses> uses,
                                     std::span<const int64_t> tiles) {
  ProgramTemplate program_template;
  program_template.uses = std::move(uses);
  Program& program = program_template.program;
  program.problem.name = graph.name;
  program.problem.memories.push_back(
      hw_profiles::AsProblemMemory(profile.memories[static_cast<size_t>(profile.tile_memory)]));

  problem::Step begin = 0;
  std::vector<std::vector<BufferBuilder>> drafts;
  for (size_t s = 0; s < program_template.uses.size(); ++s) {
    Timeline timeline =
        LayOut(graph, profile, program_template.uses[s], static_cast<int>(s), tiles[s], begin);
    drafts.push_back(DraftBuffers(graph, profile, program_template.uses[s], static_cast<int>(s),
                                  timeline, program_template.timelines));
    begin = timeline.end;
    program_template.timelines.push_back(std::move(timeline));
  }
  Append(
      DraftWholeBuffers(graph, usages, profile, program_template.uses, program_template.timelines),
      program);
  for (std::vector<BufferBuilder>& each : drafts) Append(std::move(each), program);
  program.problem.relations = AdjacentHalos(program.buffers);
  for (const problem::Relation& relation : AliasedStates(graph, usages, profile, program.buffers))
    program.problem.relations.push_back(relation);
  WorkByChannel(graph, profile, program_template);

  for (Timeline& timeline : program_template.timelines) {
    ListOnce(timeline.steps);
    program.steps.insert(program.steps.end(), timeline.steps.begin(), timeline.steps.end());
    std::vector<problem::Loop>& loops = program.problem.loops;
    if (timeline.tile_loop) loops.push_back(*timeline.tile_loop);
    loops.insert(loops.end(), timeline.slice_loops.begin(), timeline.slice_loops.end());
  }
  std::vector<graph::Interval> intervals;
  for (const SubgraphUses& each : program_template.uses) intervals.push_back(each.interval);
  program.problem.rules = ResolveRules(graph, profile, program, intervals);
  return program_template;
}

Bytes TileBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling, int tensor) {
  const bool is_rolling_buffer =
      uses.halo == hw_profiles::HaloStorage::kRollingBuffer && UseOf(uses, tensor).cached;
  return BytesAs(is_rolling_buffer ? BufferKind::kRollingBuffer : BufferKind::kTile, graph, profile,
                 uses, tiling, tensor,
                 /*alignment=*/1);
}

base::Expected<std::vector<Bytes>> SizesOf(const graph::Graph& graph,
                                           const hw_profiles::Profile& profile,
                                           const ProgramTemplate& program_template,
                                           std::span<const graph::tiling::TiledSubgraph> tilings) {
  std::vector<Bytes> sizes;
  std::optional<Bytes> total = 0;
  for (size_t i = 0; i < program_template.program.buffers.size(); ++i) {
    sizes.push_back(SizeOf(graph, profile, program_template, tilings, i));
    total = base::CheckedAdd(*total, sizes.back());
    if (total && *total < base::kMaxTotal) continue;
    base::Diagnostic refusal;
    refusal.message = fmt::format("buffers up to '{}' exceed 2^62 bytes together",
                                  program_template.program.problem.buffers[i].id);
    refusal.expected = "a network of fewer bytes";
    return base::Unexpected(refusal);
  }
  return sizes;
}

base::Expected<Program> BuildProgram(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const SubgraphChoice> choices) {
  if (std::optional<base::Diagnostic> fault = CheckWellFormed(graph, profile, choices))
    return base::Unexpected(*fault);
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const std::vector<int> kept = KeptBy(choices);
  std::vector<SubgraphUses> uses;
  std::vector<graph::tiling::TiledSubgraph> tilings;
  std::vector<int64_t> tiles;
  for (const SubgraphChoice& choice : choices) {
    Policy policy = choice.policy;
    policy.kept = kept;
    base::Expected<SubgraphUses> found = FindUses(graph, usages, profile, choice.interval, policy);
    if (!found) return base::Unexpected(found.error());
    tilings.push_back(CutTiles(graph, choice.interval, choice.tile, choice.policy.halo));
    if (!choice.prefetch.empty()) {
      found->prefetch = choice.prefetch;
      found->slices_ahead = PrefetchesSlices(policy.weights, tilings.back().tiles, choice.prefetch);
      if (std::optional<base::Diagnostic> fault = FindNothingToPrefetch(graph, *found))
        return base::Unexpected(*fault);
    }
    uses.push_back(*std::move(found));
    MarkCached(tilings.back(), choice.policy.halo, uses.back());
    if (choice.policy.in_place) MarkByChannel(graph, profile, tilings.back(), uses.back());
    tiles.push_back(tilings.back().tiles);
    if (choice.policy.second_stage > 0) {
      if (std::optional<base::Diagnostic> fault =
              FindStageFault(graph, profile, uses.back(), choice, tiles.back()))
        return base::Unexpected(*fault);
    }
  }

  ProgramTemplate program_template =
      BuildProgramTemplate(graph, usages, profile, std::move(uses), tiles);
  const base::Expected<std::vector<problem::Bytes>> sizes =
      SizesOf(graph, profile, program_template, tilings);
  if (!sizes) return base::Unexpected(sizes.error());
  const bool is_whole =
      choices.front().interval.first == 0 &&
      choices.back().interval.last + 1 == static_cast<int>(graph.operators.size());
  if (is_whole) {
    if (std::optional<base::Diagnostic> overflow = FindHomeOverflow(graph, profile, choices))
      return base::Unexpected(*overflow);
  }
  problem::Problem& problem = program_template.program.problem;
  SharedPlaces places(problem.buffers, problem.relations);
  for (size_t s = 0; s < choices.size(); ++s) {
    if (!choices[s].policy.in_place) continue;
    AddInPlace(graph, profile, program_template, static_cast<int>(s), tilings[s], *sizes, places,
               problem.relations);
  }
  for (size_t i = 0; i < sizes->size(); ++i) problem.buffers[i].size = (*sizes)[i];
  return std::move(program_template.program);
}

}  // namespace tessera::encoder::program

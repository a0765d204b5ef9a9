#include "tessera/encoder/adapt/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/checked.h"
#include "tessera/encoder/adapt/by_channel.h"
#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/adapt/handed_on.h"
#include "tessera/encoder/adapt/in_place.h"
#include "tessera/encoder/adapt/layout.h"
#include "tessera/encoder/adapt/lifespans.h"
#include "tessera/encoder/adapt/rules.h"
#include "tessera/encoder/adapt/whole_buffers.h"

namespace tessera::encoder {
namespace {

using problem::Bytes;

void Append(std::vector<BufferDraft> drafts, Program& program) {
  for (BufferDraft& draft : drafts) {
    program.problem.buffers.push_back(std::move(draft.buffer));
    program.buffers.push_back(draft.meaning);
  }
}

const graph::Extents& LargestOf(const graph::TiledSubgraph& tiling, int tensor) {
  return tiling.largest[graph::SlotOf(tiling, tensor)];
}

NamedExtents NamedLargest(const graph::Graph& graph, const graph::TiledSubgraph& tiling,
                          const std::vector<int>& operands) {
  if (operands.empty()) return {};
  const int tensor = operands.front();
  return NameExtents(graph.tensors[static_cast<size_t>(tensor)].shape, LargestOf(tiling, tensor));
}

// What an operator makes at most of its result: all that is needed, unless rows of it are kept.
NamedExtents NamedMade(const graph::Graph& graph, const graph::TiledSubgraph& tiling,
                       const std::vector<int>& results) {
  NamedExtents made = NamedLargest(graph, tiling, results);
  if (results.empty() || tiling.rows.empty()) return made;
  const graph::Shape& shape = graph.tensors[static_cast<size_t>(results.front())].shape;
  if (graph::AxisOf(shape, graph::Axis::kRows))
    made.rows = tiling.rows[graph::SlotOf(tiling, results.front())].made;
  return made;
}

// What a buffer of that kind takes, for one tensor.
Bytes BytesAs(BufferKind kind, const graph::Graph& graph, const hw_profiles::Profile& profile,
              const SubgraphUses& uses, const graph::TiledSubgraph& tiling, int tensor, int64_t alignment) {
  const TensorUse& use = UseOf(uses, tensor);
  std::vector<int> readers = use.readers;
  for (int& reader : readers) reader += uses.interval.first;
  const graph::Tensor& feature = graph.tensors[static_cast<size_t>(tensor)];
  const NamedExtents extents = NameExtents(feature.shape, LargestOf(tiling, tensor));
  const Pads pads = PadsFor(graph, profile, readers);
  if (!use.cached) return FeatureBytes(hw_profiles::LayoutOf(profile, use.role), feature.type, extents, pads);
  return CachedBytes(profile, kind, uses, use, tiling.rows[graph::SlotOf(tiling, tensor)], feature.type,
                     extents, pads, alignment);
}

// What the profile gives an operator, and behind it a channel of its result if that is made so.
Bytes ScratchOf(const graph::Graph& graph, const hw_profiles::Profile& profile, const SubgraphUses& uses,
                const graph::TiledSubgraph& tiling, int index) {
  const graph::Operator& op = graph.operators[static_cast<size_t>(index)];
  Bytes bytes = 0;
  if (HasScratch(profile, op)) {
    bytes = ScratchBytes(profile, op, NamedLargest(graph, tiling, op.inputs),
                         NamedMade(graph, tiling, op.outputs));
  }
  if (!std::binary_search(uses.by_channel.begin(), uses.by_channel.end(), index - uses.interval.first))
    return bytes;
  return base::CheckedAdd(bytes, ChannelBytes(graph, tiling, op)).value_or(base::kMaxTotal);
}

// Of a slot that takes every slice of the depth in turn.
Bytes DepthSliceBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const SubgraphUses& uses, const graph::TiledSubgraph& tiling, int tensor) {
  const DepthCut& cut = *uses.by_depth;
  if (cut.constant && cut.constant->tensor == tensor) {
    const graph::Extents& result =
        LargestOf(tiling, graph.operators[static_cast<size_t>(cut.op)].outputs.front());
    const Bytes content = ConstantSliceBytes(graph, cut, result, cut.granule);
    const Bytes bytes =
        base::CheckedAdd(content, ConstantTableBytes(profile, cut, result)).value_or(base::kMaxTotal);
    return std::max<Bytes>(1, bytes);
  }
  const auto feature = std::find_if(cut.features.begin(), cut.features.end(),
                                    [tensor](const DepthOperand& each) { return each.tensor == tensor; });
  const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
  const graph::Extents extents = SliceOf(*feature, LargestOf(tiling, tensor), cut.granule);
  return FeatureBytes(hw_profiles::LayoutOf(profile, UseOf(uses, tensor).role), facts.type,
                      NameExtents(facts.shape, extents), PadsFor(graph, profile, {cut.op}));
}

Bytes SizeOf(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
             std::span<const graph::TiledSubgraph> tilings, size_t index) {
  const ProgramBuffer& buffer = skeleton.program.buffers[index];
  const auto subgraph = static_cast<size_t>(buffer.subgraph);
  switch (buffer.kind) {
    case BufferKind::kTile:
    case BufferKind::kRing:
    case BufferKind::kLine:
    case BufferKind::kHalo:
      return BytesAs(buffer.kind, graph, profile, skeleton.uses[subgraph], tilings[subgraph], buffer.tensor,
                     skeleton.program.problem.buffers[index].alignment);
    case BufferKind::kSlice:
      if (!skeleton.uses[subgraph].by_depth) return skeleton.program.problem.buffers[index].size;
      return DepthSliceBytes(graph, profile, skeleton.uses[subgraph], tilings[subgraph], buffer.tensor);
    case BufferKind::kAccumulator: {
      const graph::Operator& op = graph.operators[static_cast<size_t>(buffer.op)];
      return AccumulatorBytes(graph, op, LargestOf(tilings[subgraph], op.outputs.front()));
    }
    case BufferKind::kScratch:
      return ScratchOf(graph, profile, skeleton.uses[subgraph], tilings[subgraph], buffer.op);
    default:
      return skeleton.program.problem.buffers[index].size;
  }
}

// Each transfer of a step once, ascending.
void ListOnce(std::vector<ProgramStep>& steps) {
  for (ProgramStep& step : steps) {
    std::sort(step.transfers.begin(), step.transfers.end());
    step.transfers.erase(std::unique(step.transfers.begin(), step.transfers.end()), step.transfers.end());
  }
}

// Puts results in place channel by channel where that is sound, and gives scratch to those who had none.
void WorkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile, Skeleton& skeleton) {
  const auto subgraphs = static_cast<int>(skeleton.uses.size());
  for (int s = 0; s < subgraphs; ++s)
    AddByChannel(graph, profile, skeleton, s, skeleton.program.problem.relations);
  for (int s = 0; s < subgraphs; ++s) {
    const SubgraphUses& uses = skeleton.uses[static_cast<size_t>(s)];
    for (const int k : uses.by_channel) {
      if (HasScratch(profile, uses.OperatorAt(graph, k))) continue;
      Append(DraftScratch(graph, profile, uses, s, skeleton.timelines[static_cast<size_t>(s)], k),
             skeleton.program);
    }
  }
}

}  // namespace

Skeleton BuildSkeleton(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                       const hw_profiles::Profile& profile, std::vector<SubgraphUses> uses,
                       std::span<const int64_t> tiles) {
  Skeleton skeleton;
  skeleton.uses = std::move(uses);
  Program& program = skeleton.program;
  program.problem.name = graph.name;
  program.problem.memories.push_back(
      hw_profiles::AsProblemMemory(profile.memories[static_cast<size_t>(profile.tile_memory)]));

  problem::Step begin = 0;
  std::vector<std::vector<BufferDraft>> drafts;
  for (size_t s = 0; s < skeleton.uses.size(); ++s) {
    Timeline timeline = LayOut(graph, profile, skeleton.uses[s], static_cast<int>(s), tiles[s], begin);
    Timeline* before = s == 0 ? nullptr : &skeleton.timelines.back();
    drafts.push_back(DraftBuffers(graph, profile, skeleton.uses[s], static_cast<int>(s), timeline, before));
    begin = timeline.end;
    skeleton.timelines.push_back(std::move(timeline));
  }
  Append(DraftWholeBuffers(graph, usages, profile, skeleton.uses, skeleton.timelines), program);
  for (std::vector<BufferDraft>& each : drafts) Append(std::move(each), program);
  program.problem.relations = AdjacentHalos(program.buffers);
  for (const problem::Relation& relation : HandedOnInPlace(graph, usages, profile, program.buffers))
    program.problem.relations.push_back(relation);
  WorkByChannel(graph, profile, skeleton);

  for (Timeline& timeline : skeleton.timelines) {
    ListOnce(timeline.steps);
    program.steps.insert(program.steps.end(), timeline.steps.begin(), timeline.steps.end());
    std::vector<problem::Loop>& loops = program.problem.loops;
    if (timeline.tile_loop) loops.push_back(*timeline.tile_loop);
    loops.insert(loops.end(), timeline.slice_loops.begin(), timeline.slice_loops.end());
  }
  std::vector<graph::Interval> intervals;
  for (const SubgraphUses& each : skeleton.uses) intervals.push_back(each.interval);
  program.problem.rules = ResolveRules(graph, profile, program, intervals);
  return skeleton;
}

Bytes TileBytes(const graph::Graph& graph, const hw_profiles::Profile& profile, const SubgraphUses& uses,
                const graph::TiledSubgraph& tiling, int tensor) {
  const bool is_ring = uses.halo == hw_profiles::HaloStorage::kRing && UseOf(uses, tensor).cached;
  return BytesAs(is_ring ? BufferKind::kRing : BufferKind::kTile, graph, profile, uses, tiling, tensor,
                 /*alignment=*/1);
}

base::Expected<std::vector<Bytes>> SizesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                           const Skeleton& skeleton,
                                           std::span<const graph::TiledSubgraph> tilings) {
  std::vector<Bytes> sizes;
  std::optional<Bytes> total = 0;
  for (size_t i = 0; i < skeleton.program.buffers.size(); ++i) {
    sizes.push_back(SizeOf(graph, profile, skeleton, tilings, i));
    total = base::CheckedAdd(*total, sizes.back());
    if (total && *total < base::kMaxTotal) continue;
    base::Diagnostic refusal;
    refusal.message =
        fmt::format("buffers up to '{}' exceed 2^62 bytes together", skeleton.program.problem.buffers[i].id);
    refusal.expected = "a network of fewer bytes";
    return base::Unexpected(refusal);
  }
  return sizes;
}

}  // namespace tessera::encoder

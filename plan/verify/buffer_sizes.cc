// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/buffer_sizes.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::verify {
namespace {

using hw_profiles::ScratchFactor;

const graph::Operator& OperatorAt(const Plan& plan, int op) {
  return plan.network.operators[static_cast<size_t>(op)];
}

const graph::Tensor& TensorAt(const Plan& plan, int tensor) {
  return plan.network.tensors[static_cast<size_t>(tensor)];
}

graph::Interval Everything(const Plan& plan) {
  return {0, static_cast<int>(plan.network.operators.size()) - 1};
}

int64_t TableBytes(const Plan& plan, const graph::Operator& op, int constant, int64_t channels) {
  return op.weights.front() == constant ? plan.profile.table_bytes_per_channel * channels : 0;
}

// Returns the number of padding rows above.
int64_t AddPads(const Plan& plan, const Users& users, graph::Interval interval,
                NamedExtents& extents) {
  const Pads pads = PadsOf(plan, users, interval);
  extents.rows += pads.low[0] + pads.high[0];
  extents.columns += pads.low[1] + pads.high[1];
  return pads.low[0];
}

int64_t FactorOf(const graph::Operator& op, ScratchFactor factor, const LargestExtents& largest,
                 const RowTallies& rows) {
  NamedExtents out = NameExtents(largest.at(op.outputs.front()));
  if (const auto tally = rows.find(op.outputs.front()); tally != rows.end())
    out.rows = tally->second.made;
  switch (factor) {
    case ScratchFactor::kKernelRows:
      return op.window.kernel[0];
    case ScratchFactor::kKernelColumns:
      return op.window.kernel[1];
    case ScratchFactor::kInChannels:
      return op.inputs.empty() ? 1 : NameExtents(largest.at(op.inputs.front())).channels;
    case ScratchFactor::kOutChannels:
      return out.channels;
    case ScratchFactor::kOutColumns:
      return out.columns;
    case ScratchFactor::kOutRows:
      return out.rows;
    case ScratchFactor::kOutBatch:
      return out.batch;
  }
  return 1;
}

int64_t ChannelBytes(const Plan& plan, const graph::Operator& op, const LargestExtents& largest) {
  const int result = op.outputs.front();
  const NamedExtents extents = NameExtents(largest.at(result));
  return base::BytesOf(TensorAt(plan, result).type, extents.batch * extents.rows * extents.columns);
}

int64_t ScratchBytes(const Plan& plan, const graph::Operator& op, const LargestExtents& largest,
                     const RowTallies& rows, bool by_channel) {
  int64_t bytes = op.scratch_bytes + (by_channel ? ChannelBytes(plan, op, largest) : 0);
  for (const hw_profiles::Scratch& scratch : plan.profile.scratch) {
    if (scratch.kind != op.kind) continue;
    int64_t product = scratch.bytes;
    for (const ScratchFactor factor : scratch.factors)
      product *= FactorOf(op, factor, largest, rows);
    bytes += product;
  }
  return std::max<int64_t>(1, bytes);
}

const hw_profiles::RoleLayout& LayoutOf(const Plan& plan, base::TensorRole role) {
  return hw_profiles::LayoutOf(plan.profile, role);
}

int64_t LinkAlignment(const Plan& plan, const Held& held) {
  const hw_profiles::Link* link =
      hw_profiles::LinkBetween(plan.profile, held.home, plan.profile.tile_memory);
  return held.link.empty() || link == nullptr ? 1 : link->alignment_bytes;
}

Footprint WholeFootprint(const Plan& plan, const std::vector<Users>& users, int tensor) {
  const graph::Tensor& facts = TensorAt(plan, tensor);
  const Users& who = users[static_cast<size_t>(tensor)];
  if (facts.constant) {
    return {ConstantBytes(plan, users, tensor, Everything(plan)),
            LayoutOf(plan, base::TensorRole::kConstant).alignment_bytes};
  }
  // A whole buffer is never a feature of its maker's subgraph. Therefore its role is its role in
  // any interval that excludes its readers.
  const base::TensorRole role = RoleOf(facts, who, {-1, -1});
  NamedExtents extents = NameExtents(facts.shape);
  AddPads(plan, who, Everything(plan), extents);
  const hw_profiles::RoleLayout& layout = LayoutOf(plan, role);
  return {StoredBytes(extents, facts.type, layout.channel_block, layout.row_pitch_bytes),
          layout.alignment_bytes};
}

// The number of rows that fit into a buffer of a cached tensor, without pads.
int64_t RowsOf(const Plan& plan, const Subgraph& subgraph, const Held& held, BufferKind kind,
               const RowTally& tally) {
  switch (kind) {
    case BufferKind::kLine:
    case BufferKind::kHalo:
      return tally.kept;
    case BufferKind::kRollingBuffer: {
      // A tile arrives or leaves while its neighbour is being computed.
      return IsDoubleBuffered(plan, subgraph) && held.residency != Residency::kInner
                 ? tally.with_next
                 : tally.held;
    }
    default:
      return subgraph.halo == hw_profiles::HaloStorage::kAdjacent ? tally.made : tally.held;
  }
}

Footprint TileFootprint(const Plan& plan, const std::vector<Users>& users, const BufferUse& use,
                        const LargestExtents& largest, const RowTallies& rows) {
  const Subgraph& subgraph = plan.subgraphs[static_cast<size_t>(use.subgraph)];
  const Held held = ResidencyOf(plan, users, subgraph, use.tensor);
  const hw_profiles::RoleLayout& layout = LayoutOf(plan, held.role);
  NamedExtents extents = NameExtents(largest.at(use.tensor));
  const int64_t above =
      AddPads(plan, users[static_cast<size_t>(use.tensor)], subgraph.interval, extents);
  if (IsCached(held, use.tensor, rows)) {
    int64_t pads = extents.rows - NameExtents(largest.at(use.tensor)).rows;
    if (use.kind == BufferKind::kLine) pads = 0;
    if (use.kind == BufferKind::kHalo) pads = above;
    extents.rows = RowsOf(plan, subgraph, held, use.kind, rows.at(use.tensor)) + pads;
  }
  const int64_t alignment = use.kind == BufferKind::kLine
                                ? layout.alignment_bytes
                                : std::lcm(layout.alignment_bytes, LinkAlignment(plan, held));
  const int64_t bytes = StoredBytes(extents, TensorAt(plan, use.tensor).type, layout.channel_block,
                                    layout.row_pitch_bytes);
  if (use.kind != BufferKind::kHalo) return {bytes, alignment};
  const auto tile_memory = static_cast<size_t>(plan.profile.tile_memory);
  const int64_t begins = std::lcm(alignment, plan.profile.memories[tile_memory].alignment_bytes);
  return {base::RoundUp(bytes, begins), alignment};
}

// A slot that fits any slice of K.
Footprint SplitKFootprint(const Plan& plan, const std::vector<Users>& users, const BufferUse& use,
                          const KSlices& slices, const LargestExtents& largest) {
  const Subgraph& subgraph = plan.subgraphs[static_cast<size_t>(use.subgraph)];
  const Held held = ResidencyOf(plan, users, subgraph, use.tensor);
  const hw_profiles::RoleLayout& layout = LayoutOf(plan, held.role);
  const int64_t alignment = std::lcm(layout.alignment_bytes, LinkAlignment(plan, held));
  const graph::Tensor& facts = TensorAt(plan, use.tensor);
  if (use.tensor == slices.constant) {
    const std::vector<int64_t>& result = largest.at(OperatorAt(plan, use.op).outputs.front());
    const int64_t bytes =
        KSliceBytes(plan, slices, slices.granularity, result[slices.result_channels]) +
        plan.profile.table_bytes_per_channel * result[slices.result_channels];
    return {std::max<int64_t>(1, bytes), alignment};
  }
  std::vector<int64_t> part = largest.at(use.tensor);
  int64_t& k_extent = part[slices.along.at(use.tensor)];
  k_extent = std::min(k_extent, slices.granularity);
  NamedExtents extents = NameExtents(part);
  AddPads(plan, users[static_cast<size_t>(use.tensor)], subgraph.interval, extents);
  return {StoredBytes(extents, facts.type, layout.channel_block, layout.row_pitch_bytes),
          alignment};
}

// The partial sums of one tile, adjacent.
int64_t AccumulatorSize(const Plan& plan, const graph::Operator& op,
                        const LargestExtents& largest) {
  const std::vector<int64_t>& result = largest.at(op.outputs.front());
  const int64_t sums =
      std::accumulate(result.begin(), result.end(), int64_t{1}, std::multiplies<>());
  return std::max<int64_t>(
      1, base::BytesOf(base::AccumulatorOf(TensorAt(plan, op.inputs.front()).type), sums));
}

Footprint ConstantFootprint(const Plan& plan, const std::vector<Users>& users,
                            const BufferUse& use) {
  const Subgraph& subgraph = plan.subgraphs[static_cast<size_t>(use.subgraph)];
  const Held held = ResidencyOf(plan, users, subgraph, use.tensor);
  const int64_t bytes = use.kind == BufferKind::kSlice
                            ? SliceBytes(plan, OperatorAt(plan, use.op), use.tensor)
                            : ConstantBytes(plan, users, use.tensor, subgraph.interval);
  return {bytes, std::lcm(LayoutOf(plan, held.role).alignment_bytes, LinkAlignment(plan, held))};
}

}  // namespace

Pads PadsOf(const Plan& plan, const Users& users, graph::Interval interval) {
  Pads pads;
  if (plan.profile.tiling.implicit_padding) return pads;
  for (const int reader : users.readers) {
    const graph::Operator& op = OperatorAt(plan, reader);
    if (!Contains(interval, reader) || !base::TraitsOf(op.kind).slides) continue;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      pads.low.at(side) = std::max(pads.low.at(side), op.window.pad_low.at(side));
      pads.high.at(side) = std::max(pads.high.at(side), op.window.pad_high.at(side));
    }
  }
  return pads;
}

bool IsCached(const Held& held, int tensor, const RowTallies& rows) {
  const bool tiles = held.residency == Residency::kInner || held.residency == Residency::kLoaded ||
                     held.residency == Residency::kStored;
  const auto tally = rows.find(tensor);
  return tiles && tally != rows.end() && tally->second.kept > 0;
}

NamedExtents NameExtents(const std::vector<int64_t>& extents) {
  NamedExtents named;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    switch (MeaningOf(extents.size(), axis).value_or(base::Axis::kBatch)) {
      case base::Axis::kBatch:
        named.batch *= extents[axis];
        break;
      case base::Axis::kChannels:
        named.channels = extents[axis];
        break;
      case base::Axis::kRows:
        named.rows = extents[axis];
        break;
      case base::Axis::kColumns:
        named.columns = extents[axis];
        break;
    }
  }
  return named;
}

int64_t StoredBytes(const NamedExtents& extents, base::DataType type, int64_t channel_block,
                    int64_t row_pitch) {
  constexpr int64_t kMostBits = 64;
  const int64_t elements =
      base::SaturatingMul(extents.columns, base::RoundUp(extents.channels, channel_block));
  if (elements > base::kMaxTotal / kMostBits) return base::kMaxTotal;
  const int64_t row = base::RoundUp(base::BytesOf(type, elements), row_pitch);
  return std::max<int64_t>(1, base::SaturatingMul(extents.batch * extents.rows, row));
}

int64_t ContentBytes(const graph::Tensor& constant) {
  if (constant.stored_bytes > 0) return constant.stored_bytes;
  return base::BytesOf(constant.type, VolumeOf(WholeOf(constant.shape)));
}

int64_t BytesOfChannels(const Plan& plan, const graph::Operator& op, int constant, int64_t all,
                        int64_t some) {
  const graph::Tensor& tensor = TensorAt(plan, constant);
  const int64_t each = VolumeOf(WholeOf(tensor.shape)) / all;
  int64_t content = base::BytesOf(tensor.type, each * some);
  if (tensor.stored_bytes > 0) {
    const int64_t shares = base::CheckedMul(tensor.stored_bytes, some).value_or(base::kMaxTotal);
    content = base::CeilDiv(shares, all);
  }
  return std::max<int64_t>(1, content + TableBytes(plan, op, constant, some));
}

int64_t ConstantBytes(const Plan& plan, const graph::Operator& op, int constant) {
  const graph::Tensor& tensor = TensorAt(plan, constant);
  return ContentBytes(tensor) +
         TableBytes(plan, op, constant, SlicingOf(plan, op, constant).channels);
}

int64_t SliceBytes(const Plan& plan, const graph::Operator& op, int constant) {
  const Slicing slicing = SlicingOf(plan, op, constant);
  return BytesOfChannels(plan, op, constant, slicing.channels, slicing.granularity);
}

int64_t BytesOfSlice(const Plan& plan, const graph::Operator& op, int constant, int64_t slice) {
  const int64_t full = SliceBytes(plan, op, constant);
  const int64_t left = ConstantBytes(plan, op, constant) - slice * full;
  return std::max<int64_t>(0, std::min(full, left));
}

int64_t KSliceBytes(const Plan& plan, const KSlices& slices, int64_t k_extent, int64_t channels) {
  const graph::Tensor& constant = TensorAt(plan, slices.constant);
  int64_t elements = k_extent * channels;
  for (size_t axis = 0; axis < constant.shape.size(); ++axis) {
    const bool taken = axis == slices.channels || axis == slices.along.at(slices.constant);
    if (!taken) elements *= constant.shape[axis];
  }
  return base::BytesOf(constant.type, elements);
}

int64_t ConstantBytes(const Plan& plan, const std::vector<Users>& users, int constant,
                      graph::Interval interval) {
  const graph::Tensor& tensor = TensorAt(plan, constant);
  int64_t bytes = std::max<int64_t>(1, ContentBytes(tensor));
  for (const int reader : users[static_cast<size_t>(constant)].readers) {
    if (!Contains(interval, reader)) continue;
    bytes = std::max(bytes, ConstantBytes(plan, OperatorAt(plan, reader), constant));
  }
  return bytes;
}

Footprint FootprintOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use,
                      const LargestExtents& largest, const RowTallies& rows,
                      const std::set<int>& by_channel) {
  switch (use.kind) {
    case BufferKind::kWhole:
      return WholeFootprint(plan, users, use.tensor);
    case BufferKind::kTile:
    case BufferKind::kRollingBuffer:
    case BufferKind::kLine:
    case BufferKind::kHalo:
      return TileFootprint(plan, users, use, largest, rows);
    case BufferKind::kSlice: {
      const auto slices = FindKSlices(plan, plan.subgraphs[static_cast<size_t>(use.subgraph)]);
      if (slices) return SplitKFootprint(plan, users, use, *slices, largest);
      return ConstantFootprint(plan, users, use);
    }
    case BufferKind::kResident:
      return ConstantFootprint(plan, users, use);
    case BufferKind::kAccumulator:
      return {AccumulatorSize(plan, OperatorAt(plan, use.op), largest),
              LayoutOf(plan, base::TensorRole::kFeature).alignment_bytes};
    case BufferKind::kScratch:
      break;
  }
  return {ScratchBytes(plan, OperatorAt(plan, use.op), largest, rows, by_channel.contains(use.op)),
          LayoutOf(plan, base::TensorRole::kFeature).alignment_bytes};
}

}  // namespace tessera::plan::verify

// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/cached_halo.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"

namespace tessera::encoder::program {

using hw_profiles::HaloStorage;

bool MayKeepRows(const hw_profiles::Profile& profile, const graph::Shape& output,
                 const graph::tiling::TileShape& tile) {
  const std::optional<size_t> columns = graph::tiling::AxisOf(output, base::Axis::kColumns);
  return graph::tiling::CutsStrips(output, tile) &&
         (profile.tiling.implicit_padding || !columns || tile[*columns] == output[*columns]);
}

graph::tiling::TiledSubgraph CutTiles(const graph::Graph& graph, graph::Interval interval,
                                      const graph::tiling::TileShape& tile, HaloStorage halo) {
  if (halo == HaloStorage::kRecompute) return graph::tiling::Tile(graph, interval, tile);
  return graph::tiling::TileKeepingRows(graph, interval, tile,
                                        /*across_batch=*/halo != HaloStorage::kAdjacent);
}

bool KeepSameRows(HaloStorage a, HaloStorage b) {
  const auto whatever_the_batch = [](HaloStorage halo) {
    return halo == HaloStorage::kRollingBuffer || halo == HaloStorage::kLineBuffer;
  };
  return a == b || (whatever_the_batch(a) && whatever_the_batch(b));
}

std::shared_ptr<graph::tiling::TiledSubgraph> SharedTilings::Cut(
    const graph::tiling::TileShape& tile, HaloStorage halo,
    const graph::tiling::ClassTest& wants_classes) {
  if (stop_ != nullptr && stop_->Requested()) return nullptr;
  const HaloStorage alike =
      KeepSameRows(halo, HaloStorage::kRollingBuffer) ? HaloStorage::kRollingBuffer : halo;
  std::shared_ptr<graph::tiling::TiledSubgraph>& tiling = tilings_[{tile, alike}];
  if (!tiling) {
    tiling = std::make_shared<graph::tiling::TiledSubgraph>(
        alike == HaloStorage::kRecompute
            ? tiler_.Cut(tile, wants_classes)
            : tiler_.CutKeepingRows(tile, /*across_batch=*/alike != HaloStorage::kAdjacent,
                                    wants_classes));
    if (tiling->tiles == 0) tiling = nullptr;
  }
  return tiling;
}

void SharedTilings::Forget() {
  for (auto& [key, tiling] : tilings_) {
    if (tiling.use_count() == 1) FreeClasses(*tiling, stop_);
  }
  tilings_.clear();
}

bool GainsByKeeping(const TensorUse& use) {
  return use.residence == Residence::kLoaded || !use.makers.empty();
}

bool DiffersFromRecompute(const graph::Graph& graph, const SubgraphUses& uses,
                          const graph::tiling::TiledSubgraph& tiling) {
  for (const TensorUse& use : uses.tensors) {
    const auto slot = std::lower_bound(tiling.tensors.begin(), tiling.tensors.end(), use.tensor) -
                      tiling.tensors.begin();
    const graph::tiling::RowCounts& rows = tiling.rows[static_cast<size_t>(slot)];
    if (GainsByKeeping(use) && (rows.kept > 0 || rows.shared > 0)) return true;
  }
  const graph::Shape& output = OutputShape(graph, uses.interval);
  const std::optional<size_t> columns = graph::tiling::AxisOf(output, base::Axis::kColumns);
  return columns && tiling.tile[*columns] < output[*columns] && tiling.classes.size() != 1 &&
         uses.dma == hw_profiles::DmaSteps::kDoubleBuffered;
}

bool MarkCached(const graph::tiling::TiledSubgraph& tiling, HaloStorage halo, SubgraphUses& uses) {
  uses.halo = halo;
  bool any = false;
  for (TensorUse& use : uses.tensors) {
    const bool has_tiles = use.residence == Residence::kInside ||
                           use.residence == Residence::kLoaded ||
                           use.residence == Residence::kStored;
    const auto slot = std::lower_bound(tiling.tensors.begin(), tiling.tensors.end(), use.tensor) -
                      tiling.tensors.begin();
    use.cached =
        has_tiles && !tiling.rows.empty() && tiling.rows[static_cast<size_t>(slot)].kept > 0;
    any = any || use.cached;
  }
  return any;
}

// The rows of each buffer, for one tile and the next:
//
//              kept      made
//     tile i   [........|------------)
//     tile i+1             [.........|-------)
//
//     rolling buffer   kept and made; and made by the next tile, if a DMA works at the same time
//     tile             copy: kept and made; adjacent: made
//     line             kept
//     halo             kept, directly before the tile; padding above precedes the rows
problem::Bytes CachedBytes(const hw_profiles::Profile& profile, BufferKind kind,
                           const SubgraphUses& uses, const TensorUse& use,
                           const graph::tiling::RowCounts& rows, base::DataType type,
                           NamedExtents largest, Pads pads, int64_t alignment) {
  const bool double_buffered = uses.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  const bool passes_on = double_buffered && use.residence != Residence::kInside;
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, use.role);
  if (kind == BufferKind::kLine || kind == BufferKind::kHalo) {
    largest.rows = rows.kept;
    pads.rows = kind == BufferKind::kHalo ? pads.rows_above : 0;
  } else if (kind == BufferKind::kRollingBuffer) {
    largest.rows = passes_on ? rows.with_next : rows.held;
  } else {
    largest.rows = uses.halo == HaloStorage::kAdjacent ? rows.made : rows.held;
  }
  const problem::Bytes bytes = FeatureBytes(layout, type, largest, pads);
  if (kind != BufferKind::kHalo) return bytes;
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  return base::RoundUp(bytes, std::lcm(alignment, memory.alignment_bytes));
}

std::vector<problem::Relation> AdjacentHalos(std::span<const BufferUse> buffers) {
  std::vector<problem::Relation> relations;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind != BufferKind::kHalo) continue;
    const auto tile = std::find_if(buffers.begin(), buffers.end(), [&](const BufferUse& buffer) {
      return buffer.kind == BufferKind::kTile && buffer.subgraph == buffers[i].subgraph &&
             buffer.tensor == buffers[i].tensor && buffer.phase == buffers[i].phase;
    });
    relations.push_back({problem::RelationKind::kAdjacent, static_cast<int>(i),
                         static_cast<int>(tile - buffers.begin()), /*delta=*/0});
  }
  return relations;
}

}  // namespace tessera::encoder::program

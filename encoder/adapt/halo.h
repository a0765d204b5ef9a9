#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tessera/encoder/adapt/layout.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/residence.h"

// Rows that stay from tile to tile (docs/program.md, "Cached halo").
namespace tessera::encoder {

// Whether tiles of this shape may keep rows for each other: they lie in strips, beside each other only where padding is implicit.
bool MayKeepRows(const hw_profiles::Profile& profile, const graph::Shape& output,
                 const graph::TileShape& tile);

// The tiles of a valid choice, as its policy makes them.
graph::TiledSubgraph CutTiles(const graph::Graph& graph, graph::Interval interval,
                              const graph::TileShape& tile, hw_profiles::HaloStorage halo);

// Whether tiles keep the same rows, however they store them.
bool KeepSameRows(hw_profiles::HaloStorage a, hw_profiles::HaloStorage b);

// The same for many shapes and policies of one interval, each cut once. The graph outlives it. Not safe to use from two threads at
// once.
class SharedTilings {
 public:
  // A stop outlives it.
  SharedTilings(const graph::Graph& graph, graph::Interval interval, const base::Stop* stop = nullptr)
      : tiler_(graph, interval, stop) {}

  // nullptr where the stop came first. Classes may be left out where they are not wanted.
  std::shared_ptr<graph::TiledSubgraph> Cut(const graph::TileShape& tile, hw_profiles::HaloStorage halo,
                                            const graph::ClassTest& wants_classes = {});

  // Gives up what was cut so far; what does not depend on the tile stays.
  void Forget() { tilings_.clear(); }

 private:
  graph::Tiler tiler_;
  std::map<std::pair<graph::TileShape, hw_profiles::HaloStorage>, std::shared_ptr<graph::TiledSubgraph>>
      tilings_;
};

// Marks the tensors whose rows are cached when the subgraph is cut like that. False if none is.
bool MarkCached(const graph::TiledSubgraph& tiling, hw_profiles::HaloStorage halo, SubgraphUses& uses);

// Whether rows of the tensor that tiles share are made, loaded or stored fewer times where tiles keep rows: it is loaded, or made inside.
bool GainsByKeeping(const TensorUse& use);

// Whether tiles cut like that, which keep rows, run otherwise than tiles of the same shape that compute them again: some row that
// tiles share is made, moved or stored once; or strips bring tiles of different classes into another order, and transfers overlap.
// May err towards true where classes were left out.
bool DiffersFromRecompute(const graph::Graph& graph, const hw_profiles::Profile& profile,
                          const SubgraphUses& uses, const graph::TiledSubgraph& tiling);

// The bytes of a buffer of a tensor whose rows are kept: kTile, kRing, kLine or kHalo. `largest` are the most elements that any
// tile needs, `pads` those of a tile buffer, `alignment` what the buffer is aligned to.
problem::Bytes CachedBytes(const hw_profiles::Profile& profile, BufferKind kind, const SubgraphUses& uses,
                           const TensorUse& use, const graph::RowCounts& rows, base::DataType type,
                           NamedExtents largest, Pads pads, int64_t alignment);

// Each halo lies directly before the tile buffer of its parity.
std::vector<problem::Relation> AdjacentHalos(std::span<const ProgramBuffer> buffers);

}  // namespace tessera::encoder

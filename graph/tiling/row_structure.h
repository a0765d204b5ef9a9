// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::graph::tiling {

// The dependences on the rows of an interval's last output, found once for all tile shapes.
class RowStructure {
 public:
  // The graph, and the propagation of the interval, must outlive it. The last output has rows.
  RowStructure(const Graph& graph, Interval interval, const Propagation& propagation);

  // Whether rows depend on columns or images, or may depend on them, so that no strip is
  // representative of others.
  bool IsTied() const { return tied_; }

  // For one tensor.
  struct Slot {
    std::optional<size_t> rows;  // the axis
    std::vector<size_t> along;   // axes that follow from rows of the last output, and `rows`
    bool leaves = false;
    bool state = false;
  };
  const std::vector<Slot>& Slots() const { return slots_; }

  // The asks through which tiles request something.
  const std::vector<const Propagation::Ask*>& Asks() const { return asks_; }
  // Whether some tile may request nothing through some ask, depending on the rows that it makes.
  bool MayBeEmpty() const { return may_be_empty_; }

  const Graph& TheGraph() const { return *graph_; }
  Interval TheInterval() const { return interval_; }
  const Propagation& ThePropagation() const { return *propagation_; }

 private:
  void FindSlots();
  std::vector<Propagation::Dependence> FindBehind(Propagation::AxisSet rows,
                                                  Propagation::AxisSet others) const;
  void FindAsks();

  const Graph* graph_;
  Interval interval_;
  const Propagation* propagation_;
  bool tied_ = false;
  bool may_be_empty_ = false;
  std::vector<Slot> slots_;
  std::vector<const Propagation::Ask*> asks_;
};

// The asks that are missing in a tile while others request the same tensor: ascending indices into
// RowStructure::Asks, followed by those of slots of which other tiles, but not this one, store a
// share.
using Lack = std::vector<size_t>;

// A strip of tiles, with all its rows, that represents all equal strips.
struct Strip {
  std::vector<std::vector<ops::Extent>> regions;  // for each lack, as in Propagation::Run
  std::vector<int64_t> shares;                    // lengths, tensor by tensor for those that leave
};

// The parts into which tiles cut an axis; one part if the shape has no such axis.
std::vector<ops::Extent> PartsOf(const Shape& output, const TileShape& tile,
                                 std::optional<size_t> axis);

// The strips of all tiles, image by image.
class RowStrips {
 public:
  // Both arguments must outlive it. Before Find there are no strips.
  RowStrips(const RowStructure& structure, const TileShape& tile)
      : structure_(&structure), tile_(&tile) {}

  // Finds the strips. The result is incomplete if the stop came first.
  void Find(const std::vector<Lack>& lacks, base::PolledWork& work);

  // The strips that differ. Two are equal if they have the same lengths of everything for every
  // lack, at the same distances.
  const std::vector<Strip>& Distinct() const { return distinct_; }
  // For each strip, in the order in which they are visited, the index of the equal strip in
  // Distinct.
  const std::vector<size_t>& Like() const { return like_; }

 private:
  std::vector<ops::Extent> RegionsOf(const ops::Box& strip, const Lack& lack) const;

  const RowStructure* structure_;
  const TileShape* tile_;
  std::vector<Strip> distinct_;
  std::vector<size_t> like_;
};

// The use of each tensor by the tiles of a strip, one below the other. It is the same in all strips
// except for columns and images.
struct RowTiles {
  // For one tile and tensor.
  struct Use {
    bool shared = false;  // the tile has a part in the data that leaves
    bool wanted = false;  // otherwise its region in `wanted` is undefined
    bool made = false;    // otherwise its region in `made` is undefined
    bool leaves = false;  // some of it leaves
    int64_t share = 0;    // of rows
    int64_t kept = 0;     // rows
  };

  // Both arguments must outlive it. No asks are missing initially.
  RowTiles(const RowStructure& rows, const TileShape& tile);

  // Initialises the regions of each tensor from the strips of the tiles, without any use.
  // Incomplete if the stop came first.
  void Begin(const std::vector<Lack>& lacks, base::PolledWork& work);

  size_t Count() const { return parts.size(); }
  Use& Of(size_t tile, size_t slot) { return uses[tile * slots + slot]; }
  const Use& Of(size_t tile, size_t slot) const { return uses[tile * slots + slot]; }
  std::span<ops::Extent> Wanted(size_t tile, size_t slot) {
    return RegionIn(std::span(wanted), tile, slot);
  }
  std::span<const ops::Extent> Wanted(size_t tile, size_t slot) const {
    return RegionIn(std::span(wanted), tile, slot);
  }
  std::span<ops::Extent> Made(size_t tile, size_t slot) {
    return RegionIn(std::span(made), tile, slot);
  }
  std::span<const ops::Extent> Made(size_t tile, size_t slot) const {
    return RegionIn(std::span(made), tile, slot);
  }

  const RowStructure* structure;
  size_t slots;                    // of the structure
  std::vector<ops::Extent> parts;  // the rows of each tile
  RowStrips strips;
  std::vector<size_t> lack_of;  // by tile: index among the lacks of the strips
  // Tile by tile for the first strip the regions of all slots (propagation.h). Along axes that
  // follow from rows alone they are those of every strip.
  std::vector<ops::Extent> wanted;
  std::vector<ops::Extent> made;
  std::vector<Use> uses;  // tile by tile, slot by slot

 private:
  template <typename Region>
  Region RegionIn(Region regions, size_t tile, size_t slot) const {
    const Propagation& propagation = structure->ThePropagation();
    const size_t begin = propagation.Begin(slot);
    return regions.subspan(tile * propagation.Size() + begin, propagation.Begin(slot + 1) - begin);
  }
};

// Adds the classes of the tiles, and the class of each tile, strip by strip. Two tiles have one
// class if their strips are equal, the same asks are missing, and all that depends on rows is
// equal. Cost: one visit of each tile of one strip, and one class for each pair of a class by rows
// and a distinct strip. Incomplete if the stop came first.
void AddRowClasses(const RowTiles& tiles, TiledSubgraph& subgraph, base::PolledWork& work);

// Tiles that keep rows, swept once for all strips (row_sweep.cc).

// TileKeepingRows (cached_halo.h) for a structure that is not tied; classes only if
// `wants_classes`; without tiles if the stop came first. nullopt: strips must be swept one by one.
std::optional<TiledSubgraph> SweepRows(const RowStructure& structure, const TileShape& tile,
                                       bool across_batch, const ClassTest& wants_classes,
                                       base::PolledWork& work);

}  // namespace tessera::graph::tiling

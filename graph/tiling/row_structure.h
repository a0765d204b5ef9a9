#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::graph::tiling {

// What hangs on the rows of an interval's last output, found once for all tile shapes.
class RowStructure {
 public:
  // The graph, and the propagation, which is that of the interval, outlive it. The last output has
  // rows.
  RowStructure(const Graph& graph, Interval interval, const Propagation& propagation);

  // Whether something ties rows to columns or images, or may, so that no strip stands for another.
  bool IsTied() const { return tied_; }

  // Of one tensor.
  struct Slot {
    std::optional<size_t> rows;  // the axis
    std::vector<size_t> along;   // axes that follow from rows of the last output, and `rows`
    bool leaves = false;
    bool state = false;
  };
  const std::vector<Slot>& Slots() const { return slots_; }

  // Those through which tiles ask for something; and whether some tile might not, for what it
  // makes.
  const std::vector<const Propagation::Ask*>& Asks() const { return asks_; }
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

// What does not ask in a tile though something else asks for the same: indices of
// RowStructure::Asks and, behind them, of slots that leave, but not with this tile. Ascending.
using Lack = std::vector<size_t>;

// A strip of tiles that others may be like, all its rows.
struct Strip {
  std::vector<std::vector<ops::Extent>> regions;  // for each lack, as of Propagation::Run
  std::vector<int64_t> shares;                    // lengths, tensor by tensor of those that leave
};

// The parts into which tiles cut an axis; one where the shape has no such axis.
std::vector<ops::Extent> PartsOf(const Shape& output, const TileShape& tile,
                                 std::optional<size_t> axis);

// The strips of all tiles, image by image.
class RowStrips {
 public:
  // Both outlive it. Before Find there are none.
  RowStrips(const RowStructure& structure, const TileShape& tile)
      : structure_(&structure), tile_(&tile) {}

  void Find(const std::vector<Lack>& lacks);

  // Those that differ: two are alike that have as much of everything whatever lacks, at the same
  // distances.
  const std::vector<Strip>& Distinct() const { return distinct_; }
  // For each strip, in the order in which they are visited, its place among these.
  const std::vector<size_t>& Like() const { return like_; }

 private:
  std::vector<ops::Extent> RegionsOf(const ops::Box& strip, const Lack& lack) const;

  const RowStructure* structure_;
  const TileShape* tile_;
  std::vector<Strip> distinct_;
  std::vector<size_t> like_;
};

// What the tiles of a strip, one below the other, have to do with each tensor; the same in all
// strips but for columns and images.
struct RowTiles {
  // Of one tile and tensor.
  struct Use {
    bool shared = false;  // the tile has a part in what leaves
    bool wanted = false;  // else its region of `wanted` means nothing
    bool made = false;    // likewise
    bool leaves = false;  // some of it
    int64_t share = 0;    // of rows
    int64_t kept = 0;     // rows
  };

  // Both outlive it. Nothing is lacking anywhere.
  RowTiles(const RowStructure& rows, const TileShape& tile);

  // Of each tensor the regions that tiles have by their strips, and no use of it.
  void Begin(const std::vector<Lack>& lacks);

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
  std::vector<size_t> lack_of;  // by tile: place among the lacks of the strips
  // Tile by tile of the first strip the regions of all slots (propagation.h); along axes that
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

// Adds the classes of the tiles, and which tile is of which, strip by strip. Two tiles are of one
// class where their strips are alike, the same is lacking, and all that hangs on rows is equal.
// Cost: one look at each tile of one strip, and one class made for each that there is by rows in
// each strip that is like no other.
void AddRowClasses(const RowTiles& tiles, TiledSubgraph& subgraph);

// Tiles that keep rows, swept once for all strips (row_sweep.cc).

// TileKeepingRows (kept_rows.h) for a structure that is not tied; classes only where
// `wants_classes`. nullopt: strips must be swept one by one.
std::optional<TiledSubgraph> SweepRows(const RowStructure& structure, const TileShape& tile,
                                       bool across_batch, const ClassTest& wants_classes);

}  // namespace tessera::graph::tiling

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/row_strips.h"
#include "tessera/graph/row_structure.h"

namespace tessera::graph {

// What the tiles of a strip, one below the other, have to do with each tensor; the same in all strips but for columns and images.
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
  std::span<Extent> Wanted(size_t tile, size_t slot) { return RegionIn(std::span(wanted), tile, slot); }
  std::span<const Extent> Wanted(size_t tile, size_t slot) const {
    return RegionIn(std::span(wanted), tile, slot);
  }
  std::span<Extent> Made(size_t tile, size_t slot) { return RegionIn(std::span(made), tile, slot); }
  std::span<const Extent> Made(size_t tile, size_t slot) const {
    return RegionIn(std::span(made), tile, slot);
  }

  const RowStructure* structure;
  size_t slots;               // of the structure
  std::vector<Extent> parts;  // the rows of each tile
  RowStrips strips;
  std::vector<size_t> lack_of;  // by tile: place among the lacks of the strips
  // Tile by tile of the first strip the regions of all slots (propagation.h); along axes that follow from rows alone they are those of
  // every strip.
  std::vector<Extent> wanted;
  std::vector<Extent> made;
  std::vector<Use> uses;  // tile by tile, slot by slot

 private:
  template <typename Region>
  Region RegionIn(Region regions, size_t tile, size_t slot) const {
    const Propagation& propagation = structure->ThePropagation();
    const size_t begin = propagation.Begin(slot);
    return regions.subspan(tile * propagation.Size() + begin, propagation.Begin(slot + 1) - begin);
  }
};

}  // namespace tessera::graph

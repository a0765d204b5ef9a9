#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/row_structure.h"

namespace tessera::graph {

// What does not ask in a tile though something else asks for the same: indices of RowStructure::Asks and, behind them, of slots that
// leave, but not with this tile. Ascending.
using Lack = std::vector<size_t>;

// A strip of tiles that others may be like, all its rows.
struct Strip {
  std::vector<std::vector<Extent>> regions;  // for each lack, as of Propagation::Run
  std::vector<int64_t> shares;               // lengths, tensor by tensor of those that leave
};

// The parts into which tiles cut an axis; one where the shape has no such axis.
std::vector<Extent> PartsOf(const Shape& output, const TileShape& tile, std::optional<size_t> axis);

// The strips of all tiles, image by image.
class RowStrips {
 public:
  // Both outlive it. Before Find there are none.
  RowStrips(const RowStructure& structure, const TileShape& tile) : structure_(&structure), tile_(&tile) {}

  void Find(const std::vector<Lack>& lacks);

  // Those that differ: two are alike that have as much of everything whatever lacks, at the same distances.
  const std::vector<Strip>& Distinct() const { return distinct_; }
  // For each strip, in the order in which they are visited, its place among these.
  const std::vector<size_t>& Like() const { return like_; }

 private:
  std::vector<Extent> RegionsOf(const Box& strip, const Lack& lack) const;

  const RowStructure* structure_;
  const TileShape* tile_;
  std::vector<Strip> distinct_;
  std::vector<size_t> like_;
};

}  // namespace tessera::graph

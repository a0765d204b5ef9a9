#include "tessera/graph/row_tiles.h"

namespace tessera::graph {
namespace {

std::vector<Extent> RowsOf(const Propagation& propagation, const TileShape& tile) {
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  return PartsOf(output, tile, AxisOf(output, Axis::kRows));
}

}  // namespace

RowTiles::RowTiles(const RowStructure& rows, const TileShape& tile)
    : structure(&rows),
      slots(rows.Slots().size()),
      parts(RowsOf(rows.ThePropagation(), tile)),
      strips(rows, tile),
      lack_of(parts.size()) {}

void RowTiles::Begin(const std::vector<Lack>& lacks) {
  strips.Find(lacks);
  wanted.clear();
  for (const size_t lack : lack_of) {
    const std::vector<Extent>& regions = strips.Distinct().front().regions[lack];
    wanted.insert(wanted.end(), regions.begin(), regions.end());
  }
  made = wanted;
  uses.assign(parts.size() * slots, {});
}

}  // namespace tessera::graph

#include "tessera/graph/strips.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

// Strips are visited from left to right, image by image, and so many of them need the same that it pays to look at one for all:
//
//     tiles     0  3  6  9        strip 0 has no neighbour on the left, and makes fewer columns of what a window reads;
//               1  4  7  10       strips 1 and 2 are alike, and so are their tiles in each row;
//               2  5  8  11       strip 3 has no neighbour on the right, and may be narrower
//
// That tiles of a row are alike follows only where the rows that a tile needs of a tensor do not hang on its columns, nor columns on
// its rows. Where an operator ties them (a window far out in the padding that needs nothing, a reshape that merges both), each strip
// is one of a kind.
namespace tessera::graph {
namespace {

// The parts into which tiles cut an axis; one where the shape has no such axis.
std::vector<Extent> PartsOf(const Shape& output, const TileShape& tile, std::optional<size_t> axis) {
  if (!axis) return {{0, 1}};
  std::vector<Extent> parts;
  for (int64_t begin = 0; begin < output[*axis]; begin += tile[*axis])
    parts.push_back({begin, std::min(begin + tile[*axis], output[*axis])});
  return parts;
}

// In the order in which they are visited.
std::vector<Box> AllStrips(const Shape& output, const TileShape& tile) {
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  std::vector<Box> strips;
  for (const Extent& images : PartsOf(output, tile, batch)) {
    for (const Extent& part : PartsOf(output, tile, columns)) {
      Box& strip = strips.emplace_back(WholeBox(output));
      if (batch) strip[*batch] = images;
      if (columns) strip[*columns] = part;
    }
  }
  return strips;
}

bool TiesRows(const Propagation& propagation) {
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  const Propagation::AxisSet rows = Propagation::AxisSet{1} << *AxisOf(output, Axis::kRows);
  Propagation::AxisSet others = 0;
  for (const Axis axis : {Axis::kBatch, Axis::kColumns}) {
    if (const std::optional<size_t> index = AxisOf(output, axis)) others |= Propagation::AxisSet{1} << *index;
  }
  const std::vector<Propagation::Dependence> dependences = propagation.Dependences(rows | others);
  return std::any_of(dependences.begin(), dependences.end(), [&](const auto& dependence) {
    return (dependence.axes & rows) != 0 && (dependence.axes & others) != 0;
  });
}

}  // namespace

bool CutsStrips(const Shape& output, const TileShape& tile) {
  const std::optional<size_t> rows = AxisOf(output, Axis::kRows);
  if (!rows || tile.size() != output.size() || tile[*rows] == output[*rows]) return false;
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  for (size_t axis = 0; axis < output.size(); ++axis) {
    if (axis != *rows && axis != columns && axis != batch && tile[axis] < output[axis]) return false;
  }
  return true;
}

Strips FindStrips(const Propagation& propagation, const TileShape& tile, bool one_by_one) {
  Strips strips;
  strips.tied = one_by_one || TiesRows(propagation);
  std::map<std::vector<int64_t>, size_t> known;
  std::vector<Extent> regions(propagation.Size());
  for (const Box& strip : AllStrips(propagation.ShapeOf(propagation.LastSlot()), tile)) {
    propagation.Run(strip, regions);
    std::vector<int64_t> lengths;
    lengths.reserve(2 * regions.size() + 1);
    lengths.push_back(strips.tied ? static_cast<int64_t>(strips.like.size()) : 0);
    for (const Extent& extent : regions) lengths.push_back(extent.Length());
    for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
      if (propagation.Leaves(slot)) propagation.AppendShareLengths(slot, strip, lengths);
    }
    const auto [entry, fresh] = known.try_emplace(std::move(lengths), strips.boxes.size());
    if (fresh) strips.boxes.push_back(strip);
    strips.like.push_back(entry->second);
  }
  return strips;
}

std::vector<Box> TilesOf(const Strips& strips, const Shape& output, const TileShape& tile) {
  const size_t rows = *AxisOf(output, Axis::kRows);
  std::vector<Box> tiles;
  for (const Box& strip : strips.boxes) {
    for (const Extent& part : PartsOf(output, tile, rows)) {
      tiles.push_back(strip);
      tiles.back()[rows] = part;
    }
  }
  return tiles;
}

}  // namespace tessera::graph

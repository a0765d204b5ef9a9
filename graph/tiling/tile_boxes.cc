// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/tile_boxes.h"

#include "tessera/base/arithmetic.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/row_structure.h"

namespace tessera::graph::tiling {
namespace {

// All strips, in the order in which they are visited.
std::vector<ops::Box> AllStrips(const Shape& output, const TileShape& tile) {
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  std::vector<ops::Box> strips;
  for (const ops::Extent& images : PartsOf(output, tile, batch)) {
    for (const ops::Extent& part : PartsOf(output, tile, columns)) {
      ops::Box& strip = strips.emplace_back(ops::WholeBox(output));
      if (batch) strip[*batch] = images;
      if (columns) strip[*columns] = part;
    }
  }
  return strips;
}

}  // namespace

std::vector<ops::Box> BoxesOfStrips(const Shape& output, const TileShape& tile) {
  const size_t rows = *AxisOf(output, Axis::kRows);
  std::vector<ops::Box> boxes;
  for (const ops::Box& strip : AllStrips(output, tile)) {
    for (const ops::Extent& part : PartsOf(output, tile, rows)) {
      boxes.push_back(strip);
      boxes.back()[rows] = part;
    }
  }
  return boxes;
}

bool ForEachTile(const Graph& graph, Interval interval, const TileShape& tile,
                 const base::Stop* stop, const std::function<void(const TileBoxes&)>& visit) {
  const Propagation propagation(graph, interval);
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  base::PolledWork work(stop);
  std::vector<int64_t> along;
  int64_t tiles = 1;
  for (size_t axis = 0; axis < output.size(); ++axis) {
    along.push_back(base::CeilDiv(output[axis], tile[axis]));
    tiles *= along.back();
  }
  std::vector<ops::Extent> regions(propagation.Size());
  const size_t slots = propagation.Tensors().size();
  for (int64_t number = 0; number < tiles; ++number) {
    if (!work.Continues(interval.last - interval.first + 1)) return false;
    ops::Box box(output.size());
    int64_t left = number;
    for (size_t axis = output.size(); axis-- > 0; left /= along[axis]) {
      const int64_t begin = left % along[axis] * tile[axis];
      box[axis] = {begin, std::min(begin + tile[axis], output[axis])};
    }
    propagation.Run(box, regions);
    TileBoxes boxes;
    for (size_t slot = 0; slot < slots; ++slot) {
      boxes.needed.emplace_back(
          regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(slot)),
          regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(slot + 1)));
      boxes.shares.push_back(propagation.Leaves(slot) ? propagation.ShareOf(slot, box)
                                                      : ops::Box(propagation.ShapeOf(slot).size()));
    }
    boxes.made = boxes.needed;
    visit(boxes);
  }
  return true;
}

std::vector<ops::Box> RegionsOfTile(const Graph& graph, Interval interval, const ops::Box& tile) {
  const Propagation propagation(graph, interval);
  std::vector<ops::Extent> regions(propagation.Size());
  propagation.Run(tile, regions);
  std::vector<ops::Box> boxes;
  for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
    const auto at = [&](size_t i) {
      return regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(i));
    };
    boxes.emplace_back(at(slot), at(slot + 1));
  }
  return boxes;
}

}  // namespace tessera::graph::tiling

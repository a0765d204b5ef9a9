// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"

namespace tessera::graph::tiling {

using Extents = std::vector<int64_t>;  // elements along each axis of a tensor

// Extents that another object owns.
class ExtentsView : public std::span<const int64_t> {
 public:
  using std::span<const int64_t>::span;
  friend bool operator==(ExtentsView a, ExtentsView b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

inline int64_t ElementsOf(ExtentsView extents) {
  int64_t elements = 1;
  for (const int64_t extent : extents) elements *= extent;
  return elements;
}

// Extents of several tensors end to end. Tiles have very many classes, and each class has many
// tensors.
class ExtentsList {
 public:
  void Reserve(size_t tensors, size_t axes) {
    ends_.reserve(tensors);
    values_.reserve(axes);
  }

  bool empty() const { return ends_.empty(); }
  size_t size() const { return ends_.size(); }
  ExtentsView operator[](size_t tensor) const {
    const size_t begin = tensor == 0 ? 0 : ends_[tensor - 1];
    return {values_.data() + begin, ends_[tensor] - begin};
  }

  // AddAxis appends an axis of the next tensor; EndTensor completes that tensor.
  void AddAxis(int64_t extent) { values_.push_back(extent); }
  void EndTensor() { ends_.push_back(values_.size()); }
  void Add(ExtentsView extents) {
    values_.insert(values_.end(), extents.begin(), extents.end());
    EndTensor();
  }

  friend auto operator<=>(const ExtentsList&, const ExtentsList&) = default;

 private:
  std::vector<int64_t> values_;
  std::vector<size_t> ends_;
};

using base::Axis;

// The axis of a shape with this name, or nullopt (see Shape).
std::optional<size_t> AxisOf(const Shape& shape, Axis axis);

// The axes outside the rows of each image, the innermost first: batch, and the axes without a name.
std::vector<size_t> OuterAxes(const Shape& shape);

// The extents of a tile along each axis of the last operator's output; at most the output's own.
using TileShape = std::vector<int64_t>;

// Whether the subgraph can be cut along this axis of its last output: every tensor made inside is
// then also cut, so that no tile makes a tensor whole. Barriers, reductions over the axis and
// reshapes that cannot be followed forbid it, and so does an extent of 1. It is also forbidden if
// an operator other than the maker of a state's next value reads the state and, if the maker itself
// reads it, if tiles need the same part of the next value. Tensors from outside may be needed
// whole: the input channels of a convolution, the second operand of a matmul.
bool CanCut(const Graph& graph, Interval interval, size_t output_axis);

class Propagation;

// Whether some subgraph that contains the propagation's operators among others, and from which the
// propagation's last output leaves, may be cut along this axis of that output, without regard to
// the axis's extent. `open` states by slot whether other operators may request the tensor, or
// whether it may also leave. The result may be true although no such subgraph exists. If no slot is
// open, it is that of CanCut.
bool MayCutAmongOthers(const Graph& graph, const Propagation& propagation,
                       std::span<const char> open, size_t output_axis);

// Tiles with the same extents of every tensor, hence the same work. Vectors are parallel to
// TiledSubgraph::tensors, except `macs`, which is parallel to the operators of the interval.
struct TileClass {
  int64_t count = 0;
  ExtentsList needed;  // the part that the tile reads or makes of the tensor; all zero: nothing
  // for tensors made here that leave: the part that this tile must store; otherwise empty
  ExtentsList share;
  std::vector<int64_t> macs;

  // If rows are kept; otherwise empty, because all that is needed is made then (see MadeOf).
  ExtentsList made;  // the part that is made or loaded; the rest of the needed part is present
  std::vector<int64_t> kept;   // rows that previous tiles made, for this one or a later one
  std::vector<int64_t> keeps;  // rows kept after this tile
};

// The multiply-accumulates of each operator of the interval, for the part that the tile makes.
void AddMacs(const Graph& graph, Interval interval, const Propagation& propagation,
             TileClass& tiles);

inline ExtentsView MadeOf(const TileClass& tiles, size_t slot) {
  return tiles.made.empty() ? tiles.needed[slot] : tiles.made[slot];
}

// Rows of one tensor if rows are kept, the maximum over all tiles.
struct RowCounts {
  int64_t kept = 0;  // 0: never any
  int64_t made = 0;
  int64_t held = 0;       // kept and made
  int64_t with_next = 0;  // held by a tile and made by the next
  int64_t shared = 0;     // of a share: also in the share of a previous tile, with which they leave
  friend bool operator==(const RowCounts&, const RowCounts&) = default;
};

// A subgraph cut into tiles: what every tile computes and holds, in elements. Neighbours compute
// the halo between them twice, or keep it (cached_halo.h).
struct TiledSubgraph {
  Interval interval;
  TileShape tile;
  int64_t tiles = 0;         // in all
  std::vector<int> tensors;  // every feature tensor read or written inside, ascending
  // parallel to `tensors`: the greatest extent on each axis over all tiles
  std::vector<Extents> largest;
  std::vector<TileClass> classes;  // in order of their first tile; the sum of counts is `tiles`
  // for each tile in program order (row-major; if rows are kept, strip by strip), its class
  std::vector<int> class_of;
  std::vector<RowCounts> rows;  // parallel to `tensors` if rows are kept; otherwise empty
};

// Frees the classes and their order in the tiles. A million classes take long to free; if the
// process ends meanwhile (Stop::EndProcess), the rest is left. The stop may be nullptr.
void FreeClasses(TiledSubgraph& tiling, const base::Stop* stop);

// Whether the classes of a tiling are needed, given all its other fields.
using ClassTest = std::function<bool(const TiledSubgraph&)>;

// The index of a tensor in TiledSubgraph::tensors, and in all lists parallel to it.
inline size_t SlotOf(const TiledSubgraph& tiling, int tensor) {
  return static_cast<size_t>(
      std::lower_bound(tiling.tensors.begin(), tiling.tensors.end(), tensor) -
      tiling.tensors.begin());
}

// Cuts the last operator's (first) output into tiles in row-major order. Of every other boundary
// output the tile requests its share [floor(aF/E), ceil(bF/E)), joined with the needs of consumers
// inside. The rest follows by propagation from last to first. Exact over all positions. `tile` has
// a value from 1 to the extent for each axis. Cost: one propagation for each position along each
// cut axis, not for each tile, unless a concatenation, a far padding or a reshape couples axes.
TiledSubgraph Tile(const Graph& graph, Interval interval, const TileShape& tile);

// Cuts one interval into tiles of many shapes. Results that do not depend on the shape are computed
// once. The graph must outlive it. Not safe to use from two threads at the same time.
class Tiler {
 public:
  // A stop, which must outlive it, ends a cut: the result then has no tiles.
  Tiler(const Graph& graph, Interval interval, const base::Stop* stop = nullptr);
  Tiler(const Tiler&) = delete;
  Tiler& operator=(const Tiler&) = delete;
  ~Tiler();

  // Classes are present if `wants_classes` is true or empty; otherwise they may be left out.
  TiledSubgraph Cut(const TileShape& tile, const ClassTest& wants_classes = {});

  // The result of TileKeepingRows (cached_halo.h).
  TiledSubgraph CutKeepingRows(const TileShape& tile, bool across_batch,
                               const ClassTest& wants_classes = {});

 private:
  class Interior;
  std::unique_ptr<Interior> interior_;
};

// The regions of one tile, a box of the last operator's (first) output; parallel to
// TiledSubgraph::tensors. A tensor that the tile does not need has a box of empty extents.
std::vector<ops::Box> RegionsOfTile(const Graph& graph, Interval interval, const ops::Box& tile);

// The tile shapes of a subgraph: an extent for each axis of the last operator's output, in every
// combination.
struct ShapeGrid {
  // The even cuts. For each axis, ascending and the whole extent last: if the axis may be cut, the
  // distinct values of ceil(extent/k), rounded up to the step. For any other extent one of these is
  // smaller and makes as many tiles, but the other extent can cost less, because different tiles
  // are ragged.
  std::vector<std::vector<int64_t>> extents;
  // Even cuts were left out: an axis has more than kMostExtents, or its least extent makes more
  // than kMostTiles.
  bool thinned = false;
  // Parallel to `extents`: tiles may have any multiple of the step below the whole extent. Empty:
  // only the even cuts.
  std::vector<int64_t> steps = {};
};

inline constexpr size_t kMostExtents = 128;
inline constexpr int64_t kMostTiles = int64_t{1} << 20;

struct CutAxis {
  Axis axis = Axis::kRows;
  int64_t granularity = 1;
};
ShapeGrid TileShapes(const Graph& graph, Interval interval, const std::vector<CutAxis>& axes);

// The number of shapes of the grid, including those with too many tiles.
int64_t CountShapes(const ShapeGrid& grid);

// Whether there would be more than kMostTiles tiles of that shape. Such a program is not useful.
bool MakesTooManyTiles(const ShapeGrid& grid, const TileShape& shape);

// All shapes except those that make too many tiles, with the first axis slowest. At most
// CountShapes(grid).
std::vector<TileShape> ShapesOf(const ShapeGrid& grid);

// The grid with every possible extent of a tile instead of the even cuts, and without steps. It is
// thinned if an axis has more than kMostListedExtents; this axis then keeps only its even cuts.
ShapeGrid WithEveryExtent(const ShapeGrid& grid);
inline constexpr int64_t kMostListedExtents = 4096;

// At most `most` of the values, spread evenly over their ranks. The first and the last are always
// included; if `most` is 1, only the last.
std::vector<int64_t> Thin(const std::vector<int64_t>& values, size_t most);

// The boxes of a tile in each tensor of a subgraph, by position in TiledSubgraph::tensors. A box is
// empty if the tile has no part of the tensor.
struct TileBoxes {
  std::vector<ops::Box> needed;  // the part that the tile reads or makes
  std::vector<ops::Box> made;    // the part that it makes or loads, without kept rows
  std::vector<ops::Box> shares;  // the part that it stores of a tensor that leaves; otherwise empty
};

// Calls `visit` for each tile in program order: row-major or, if rows are kept, strip by strip.
// TiledSubgraph has the extents of these boxes. Ends early and returns false if the stop, which may
// be nullptr, comes. Cost: one propagation for each tile; if rows are kept, all boxes are held in
// memory together.
bool ForEachTile(const Graph& graph, Interval interval, const TileShape& tile,
                 const base::Stop* stop, const std::function<void(const TileBoxes&)>& visit);
bool ForEachTileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                            bool across_batch, const base::Stop* stop,
                            const std::function<void(const TileBoxes&)>& visit);

// The boxes of all tiles of an output that has rows, strip by strip.
std::vector<ops::Box> BoxesOfStrips(const Shape& output, const TileShape& tile);

}  // namespace tessera::graph::tiling

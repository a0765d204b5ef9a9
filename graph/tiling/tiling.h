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

// Extents that somebody else keeps.
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

// Extents of several tensors end to end: tiles have classes in great numbers, and each class many
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

  // An axis of the tensor to be, and then the tensor itself, behind those that are there.
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

// A subgraph cut into tiles: what every tile computes and holds, in elements. Neighbours compute
// the halo between them twice, or keep it (kept_rows.h).

using base::Axis;

// The axis of a shape that a name means, or nullopt (see Shape).
std::optional<size_t> AxisOf(const Shape& shape, Axis axis);

// The extents of a tile along each axis of the last operator's output; at most the output's own.
using TileShape = std::vector<int64_t>;

// Whether the subgraph can be cut along this axis of its last output: every tensor made inside is
// then cut too, so that no tile makes anything whole. Barriers, reductions over the axis and
// reshapes that cannot be followed forbid it, an extent of 1 as well. So does who reads a state
// beside the operator that makes its next value, and where that operator reads it itself, whatever
// makes tiles need the same part of the next value. What comes from outside may be needed whole:
// the input channels of a convolution, the second operand of a matmul.
bool CanCut(const Graph& graph, Interval interval, size_t output_axis);

class Propagation;

// Whether some subgraph may be cut along this axis of the propagation's last output that has its
// operators among others and from which that output leaves, the axis's own extent aside. `open`
// says by slot whether other operators may ask for the tensor, or it may leave as well. Errs
// towards true; without any that is open it is CanCut.
bool MayCutAmongOthers(const Graph& graph, const Propagation& propagation,
                       std::span<const char> open, size_t output_axis);

// Tiles that are alike: the same extents of every tensor, hence the same work. Vectors are parallel
// to TiledSubgraph::tensors, but for `macs`, which is parallel to the operators of the interval.
struct TileClass {
  int64_t count = 0;
  ExtentsList needed;  // what the tile reads or makes of the tensor; all zero: nothing
  ExtentsList share;  // of what is made here and leaves: what this tile must bring home; else empty
  std::vector<int64_t> macs;

  // Where rows are kept; empty where they are not, since all that is needed is made then (see
  // MadeOf).
  ExtentsList made;            // what is made or loaded; the rest of what is needed is there
  std::vector<int64_t> kept;   // rows that tiles before made, for this one or a later one
  std::vector<int64_t> keeps;  // rows kept after this tile
};

inline ExtentsView MadeOf(const TileClass& tiles, size_t slot) {
  return tiles.made.empty() ? tiles.needed[slot] : tiles.made[slot];
}

// Rows of one tensor where rows are kept, the most over all tiles.
struct RowCounts {
  int64_t kept = 0;  // 0: never any
  int64_t made = 0;
  int64_t held = 0;    // kept and made
  int64_t beside = 0;  // held by a tile and made by the next
  int64_t shared = 0;  // of a share: in that of a tile before too, with which they leave
  friend bool operator==(const RowCounts&, const RowCounts&) = default;
};

struct TiledSubgraph {
  Interval interval;
  TileShape tile;
  int64_t tiles = 0;         // in all
  std::vector<int> tensors;  // every feature tensor read or written inside, ascending
  std::vector<Extents>
      largest;  // parallel to `tensors`: the greatest extent on each axis over all tiles
  std::vector<TileClass> classes;  // in order of their first tile; counts add up to `tiles`
  std::vector<int>
      class_of;  // for each tile in program order (row-major; where rows are kept strip by strip), its class
  std::vector<RowCounts> rows;  // parallel to `tensors` where rows are kept; else empty
};

// Whether the classes of a tiling are worth finding, of which all else is known.
using ClassTest = std::function<bool(const TiledSubgraph&)>;

// The index of a tensor in TiledSubgraph::tensors, and in all that is parallel to it.
inline size_t SlotOf(const TiledSubgraph& tiling, int tensor) {
  return static_cast<size_t>(
      std::lower_bound(tiling.tensors.begin(), tiling.tensors.end(), tensor) -
      tiling.tensors.begin());
}

// Cuts the last operator's (first) output into tiles in row-major order; every other boundary
// output is asked for its share of the tile (floor(aF/E), ceil(bF/E)) hulled with what consumers
// inside need; the rest follows by propagation from last to first. Exact over all positions. `tile`
// has a value from 1 to the extent for each axis. Cost: one propagation for each position along
// each cut axis, not for each tile, unless a concatenation, a far padding or a reshape ties axes
// together.
TiledSubgraph Tile(const Graph& graph, Interval interval, const TileShape& tile);

// The same for many tile shapes of one interval: what does not depend on the shape is found once.
// The graph outlives it. Not safe to use from two threads at once.
class Tiler {
 public:
  // A stop, which outlives it, ends a cut: what is returned then has no tiles.
  Tiler(const Graph& graph, Interval interval, const base::Stop* stop = nullptr);
  Tiler(const Tiler&) = delete;
  Tiler& operator=(const Tiler&) = delete;
  ~Tiler();

  // Classes are there if `wants_classes`, or is empty; else they may be left out.
  TiledSubgraph Cut(const TileShape& tile, const ClassTest& wants_classes = {});

  // What TileKeepingRows makes of it (kept_rows.h).
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
  // The even cuts. For each axis, ascending and the whole extent last: where the axis may be cut,
  // the distinct values of ceil(extent/k), rounded up to the step. Any other extent makes as many
  // tiles as one of these that is smaller, but it can cost less: other tiles are ragged.
  std::vector<std::vector<int64_t>> extents;
  // Even cuts were left out: an axis has more than kMostExtents, or its least cut it into more than
  // kMostTiles.
  bool thinned = false;
  // Parallel to `extents`: tiles may have any multiple of it that is below the whole extent. Empty:
  // no others than the even cuts.
  std::vector<int64_t> steps = {};
};

inline constexpr size_t kMostExtents = 128;
inline constexpr int64_t kMostTiles = int64_t{1} << 20;

struct CutAxis {
  Axis axis = Axis::kRows;
  int64_t granularity = 1;
};
ShapeGrid TileShapes(const Graph& graph, Interval interval, const std::vector<CutAxis>& axes);

// How many shapes the grid has, those with too many tiles included.
int64_t CountShapes(const ShapeGrid& grid);

// Whether tiles of that shape would be more than kMostTiles. Nobody wants such a program.
bool MakesTooManyTiles(const ShapeGrid& grid, const TileShape& shape);

// All shapes but those, first axis slowest. At most CountShapes(grid).
std::vector<TileShape> ShapesOf(const ShapeGrid& grid);

// The grid with every extent that tiles may have instead of the even cuts, and no steps; thinned
// where an axis has more than kMostListedExtents, which keeps its even cuts alone.
ShapeGrid WithEveryExtent(const ShapeGrid& grid);
inline constexpr int64_t kMostListedExtents = 4096;

// At most `most` of the values, spread evenly over their ranks; the first and the last are always
// among them, of one the last.
std::vector<int64_t> Thin(const std::vector<int64_t>& values, size_t most);

}  // namespace tessera::graph::tiling

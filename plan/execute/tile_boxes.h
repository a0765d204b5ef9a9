#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"

// Which part of every tensor each tile of a subgraph is about.
namespace tessera::plan::execute {

// Who makes and who reads a tensor.
struct Users {
  int maker = -1;  // -1: none, it is present from the beginning
  std::vector<int> readers;
  bool MadeIn(graph::Interval interval) const {
    return interval.first <= maker && maker <= interval.last;
  }
};
std::vector<Users> UsersOf(const graph::Graph& network);

// What a tile has of one tensor.
struct TilePart {
  Box held;  // all that is there while the tile is at work
  Box made;  // what it makes of that itself, or loads: the lower rows, or none, at the end of what
             // is held
  int64_t made_before = 0;  // rows that tiles before have made before those held, since the first
};

// What is held of rows that tiles before have made.
Box KeptOf(const TilePart& part);

struct TileBoxes {
  std::map<int, TilePart> parts;  // of every tensor that the tile reads or makes; no constants
  std::map<int, Box> leaves;      // what it brings home of each tensor that leaves the subgraph
};

// The most that any tile has of a tensor.
struct LargestPart {
  std::vector<int64_t> held;  // axis by axis
  int64_t kept_rows = 0;
  int64_t rows_beside = 0;  // held by one tile, and made by the next
};

// Tiles are numbered row-major over the first result of the subgraph's last operator; where they
// keep rows for each other, down one strip of columns after the other.
class Tiles {
 public:
  Tiles(const graph::Graph& network, const std::vector<Users>& users, const Subgraph& subgraph);

  int64_t Count() const { return count_; }  // at most 2^62
  TileBoxes At(int64_t tile) const;         // 0 <= tile < Count()

  // Cost: that of At for all tiles.
  std::map<int, LargestPart> Largest() const;

 private:
  TileBoxes AskedOf(int64_t tile) const;
  std::vector<size_t> FastestFirst() const;
  Box ShareOf(int tensor, const Box& tile) const;
  const graph::Shape& ShapeOf(int tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].shape;
  }

  const graph::Graph& network_;
  const Subgraph& subgraph_;
  int tiled_ = 0;             // the tensor that is cut
  std::vector<int> leaving_;  // made here, wanted elsewhere
  int64_t count_ = 1;
  std::vector<TileBoxes> swept_;  // all tiles, where they keep rows for each other
};

// Tiles that lie one below the other and keep rows for each other (docs/program.md, "Cached halo").
// Given are all of them in order, `strip_length` to a strip, each with an empty part of every
// tensor and, in `leaves`, its share of what leaves; all parts and what really leaves are filled
// in. Cost: the reads of every operator for every tile.
void SweepRows(const graph::Graph& network, const Subgraph& subgraph, size_t strip_length,
               std::vector<TileBoxes>& tiles);

}  // namespace tessera::plan::execute

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/residency.h"

// The tiles of a subgraph and the parts of every tensor that each needs.
namespace tessera::plan::verify {

struct Tile {
  std::map<int, Box> needs;   // by tensor: the part that one pass reads or makes; without constants
  std::map<int, Box> shares;  // by tensor that leaves the subgraph: the part that this pass stores

  // By tensor, if the subgraph caches its halo. Otherwise empty, because all that a pass needs is
  // then made.
  std::map<int, Box> makes;  // the part that this pass makes or loads
  std::map<int, Box> kept;   // the rows that previous passes made and this one or a later one needs
  std::map<int, int64_t> made_before;  // rows of all passes before the first row held
};

// Of a tensor: what the pass makes or loads, what it keeps of previous passes, and both.
const Box& MadeOf(const Tile& tile, int tensor);
Box KeptOf(const Tile& tile, int tensor);
Box HeldOf(const Tile& tile, int tensor);

// The product over axes of ceil(extent / tile).
int64_t CountTiles(const graph::Shape& shape, const std::vector<int64_t>& tile);

// Whether a subgraph of the profile may cache the halo of such tiles. Several tiles must lie below
// each other. For each part of the batch there must be one strip or, if padding is implicit, one or
// more adjacent strips.
bool MayCacheHalo(const hw_profiles::Profile& profile, const graph::Shape& shape,
                  const std::vector<int64_t>& tile);

// The axes of the tensor that is cut, of that rank, from the outermost loop over tiles to the
// innermost: row-major or, if the halo is cached, with rows innermost.
std::vector<size_t> LoopOrder(const Subgraph& subgraph, size_t rank);

// The needs of one tile that computes this part of the last operator's first output, if no rows are
// kept.
Tile SingleTile(const graph::Graph& network, const std::vector<Users>& users,
                const Subgraph& subgraph, const Box& box);

// All tiles of a subgraph, in program order. The last tile along each axis may be smaller.
// subgraph.tile is within the shape and, if the halo is cached, is such that it may be. Cost of a
// tile: operators times the walk of NeedOf. With a cached halo all tiles are found and held in
// memory together; the cost includes rows.
class Tiles {
 public:
  // The arguments must outlive this object.
  Tiles(const graph::Graph& network, const std::vector<Users>& users, const Subgraph& subgraph);

  int64_t Count() const { return count_; }  // as CountTiles
  Tile At(int64_t tile) const;

 private:
  Box BoxOf(int64_t tile) const;
  void FindTogether(size_t rows);

  const Subgraph& subgraph_;
  const graph::Shape& shape_;  // of the tensor that is cut
  std::shared_ptr<const class Propagation> propagation_;
  std::vector<size_t> axes_;  // as LoopOrder
  int64_t count_ = 1;
  std::vector<Tile> together_;  // if the halo is cached
};

// Calls `visit` for each tile in program order, until it returns false.
void ForEachTileWhile(const graph::Graph& network, const std::vector<Users>& users,
                      const Subgraph& subgraph, const std::function<bool(const Tile&)>& visit);

// Calls `visit` for each tile in program order.
template <typename Visit>
void ForEachTile(const graph::Graph& network, const std::vector<Users>& users,
                 const Subgraph& subgraph, const Visit& visit) {
  ForEachTileWhile(network, users, subgraph, [&visit](const Tile& tile) {
    visit(tile);
    return true;
  });
}

// By tensor, the maximum that any tile needs along each axis.
using LargestExtents = std::map<int, std::vector<int64_t>>;

// The maximum number of rows of a tensor over all tiles, if the halo is cached.
struct RowTally {
  int64_t kept = 0;
  int64_t made = 0;
  int64_t held = 0;       // kept and made
  int64_t with_next = 0;  // held by one tile, and made by the next
};
using RowTallies = std::map<int, RowTally>;  // by tensor that has rows

// The maxima over tiles. Add every tile in order.
class TileMaxima {
 public:
  void Add(const Tile& tile);
  const LargestExtents& Extents() const { return extents_; }
  const RowTallies& Rows() const { return rows_; }

 private:
  LargestExtents extents_;
  RowTallies rows_;
  std::map<int, int64_t> held_before_;
};

// Whether tiles of the interval may divide this axis of its last operator's first output:
// docs/program.md, "Axes that may be cut". If an operator does not state which axes of its operands
// follow which axes of its result, all are assumed to. So the result may be true for an axis that
// may not be cut, and false is certain. Cost: linear in the operands of the interval.
bool MayCut(const graph::Graph& network, const std::vector<Users>& users, graph::Interval interval,
            size_t axis);

}  // namespace tessera::plan::verify

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "tessera/plan/verify/operand_regions.h"
#include "tessera/plan/verify/residency.h"

// The tiles of a subgraph and what each needs of every tensor.
namespace tessera::plan::verify {

struct Tile {
  std::map<int, Box>
      needs;  // by tensor: what one pass reads of it, or makes of it; constants are not here
  std::map<int, Box>
      shares;  // by tensor that leaves the subgraph: the part that this pass brings home

  // Where the subgraph caches its halo, by tensor; empty otherwise, as all that a pass needs is
  // made then.
  std::map<int, Box> makes;     // what this pass makes of it, or loads
  std::map<int, int64_t> kept;  // rows that passes before made and this one or a later one needs
};

const Box& MadeOf(const Tile& tile, int tensor);

// The product over axes of ceil(extent / tile).
int64_t CountTiles(const graph::Shape& shape, const std::vector<int64_t>& tile);

// Whether a subgraph of the profile may cache the halo of such tiles: several of them lie one below
// the other, for each part of the batch in one strip, or where padding is implicit in several
// strips beside each other.
bool MayCacheHalo(const hw_profiles::Profile& profile, const graph::Shape& shape,
                  const std::vector<int64_t>& tile);

// What one tile needs that computes this part of the last operator's first output, where no rows
// are kept.
Tile SingleTile(const graph::Graph& network, const std::vector<Users>& users,
                const Subgraph& subgraph, const Box& box);

// Calls `visit` for each tile in program order: row-major, or if the halo is cached strip by strip;
// the last along each axis may be smaller. subgraph.tile is within the shape, and such that its
// halo may be cached if it is. Cost: tiles times operators times the walk of NeedOf; with a cached
// halo also rows, and all tiles are held at once.
void ForEachTile(const graph::Graph& network, const std::vector<Users>& users,
                 const Subgraph& subgraph, const std::function<void(const Tile&)>& visit);

// The most rows of a tensor over all tiles, where the halo is cached.
struct RowTally {
  int64_t kept = 0;
  int64_t made = 0;
  int64_t held = 0;    // kept and made
  int64_t beside = 0;  // held by one tile, and made by the next
};
using RowTallies = std::map<int, RowTally>;  // by tensor that has rows

// Fed with every tile in order.
class RowCount {
 public:
  explicit RowCount(const graph::Graph& network) : network_(network) {}
  void Add(const Tile& tile);
  const RowTallies& Tallies() const { return tallies_; }

 private:
  const graph::Graph& network_;
  RowTallies tallies_;
  std::map<int, int64_t> held_before_;
};

// Whether tiles of the interval may divide this axis of its last operator's first output:
// docs/program.md, "Axes that may be cut". Where an operator does not tell which axes of its
// operands follow which axes of its result, it counts as if all may; so true may be said of an axis
// that may not be cut, and false is certain. Cost: linear in the operands of the interval.
bool MayCut(const graph::Graph& network, const std::vector<Users>& users, graph::Interval interval,
            size_t axis);

}  // namespace tessera::plan::verify

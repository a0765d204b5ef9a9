#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "tessera/plan/costs_tile.h"
#include "tessera/plan/sizes.h"
#include "tessera/plan/traffic.h"

namespace tessera::plan {

// plan::CostOf for callers that visit the tiles themselves, in order. Plan and users outlive it.
class CostCount {
 public:
  CostCount(const Plan& plan, const std::vector<Users>& users, int subgraph);
  void Add(const Tile& tile);

  // `work` counted the same tiles.
  Metrics Finish(const Work& work) const;

 private:
  // Tiles that are alike in every extent.
  struct Alike {
    TileCost cost;
    std::map<int, int64_t> kept;  // rows, by tensor
    int64_t count = 0;
  };
  // What copying the rows takes that one tile finds kept.
  struct Copies {
    int64_t cycles = 0;
    int64_t bytes = 0;
  };
  struct Once {  // constants that are loaded once
    int64_t cycles = 0;
    int64_t bytes = 0;
  };
  struct Slot {
    int64_t cycles = 0;
    double bytes_per_cycle = 0;
  };
  using Neighbours =
      std::array<int, 3>;  // the tiles before, here and after, into alike_; -1 where there is none

  const Subgraph& Current() const { return plan_.subgraphs[static_cast<size_t>(subgraph_)]; }
  Once ConstantsOf(const Subgraph& subgraph) const;
  Copies CopiesOf(const Alike& tile) const;
  int64_t CopyCycles(const Neighbours& tiles) const;
  int64_t SlicesDuring(const Neighbours& tiles, size_t step, size_t memory) const;
  int64_t PortCyclesOf(size_t memory, int64_t in, int64_t out) const;
  int64_t PassOf(const Neighbours& tiles) const;
  Slot OwnStepsSlot(const Neighbours& tiles) const;
  Slot OverlappedSlot(const Neighbours& tiles) const;
  Slot SlotOf(int64_t cycles, const std::vector<int64_t>& bytes) const;
  void AddEnergy(const Work& work, Metrics& metrics) const;

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int subgraph_;
  TileCosting costing_;
  size_t home_of_constants_;
  Once own_;                                     // of this subgraph
  Once ahead_;                                   // of the next one, beside the last tile of this one
  std::map<std::vector<int64_t>, int> numbers_;  // by all extents of a tile
  std::vector<Alike> alike_;
  std::vector<int> order_;  // of tiles, into alike_
  LargestExtents largest_;
};

}  // namespace tessera::plan

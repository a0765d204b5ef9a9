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
  // Rows that a tile finds kept, or constants of one home that are loaded once.
  struct Moved {
    int64_t cycles = 0;
    int64_t bytes = 0;
  };
  struct Slot {
    int64_t cycles = 0;
    double bytes_per_cycle = 0;
  };
  // Three tiles in order, into alike_; -1 before the first and after the last.
  using Neighbours = std::array<int, 3>;

  const Subgraph& Current() const { return plan_.subgraphs[static_cast<size_t>(subgraph_)]; }
  std::vector<Moved> ConstantsOf(const Subgraph& subgraph) const;
  Moved CopiesOf(const Alike& tile) const;
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
  std::vector<Moved> own_;    // of this subgraph, by memory
  std::vector<Moved> ahead_;  // of the next one, by memory, during the last tile of this one
  std::map<std::vector<int64_t>, int> numbers_;  // by all extents of a tile
  std::vector<Alike> alike_;
  std::vector<int> order_;  // of tiles, into alike_
  LargestExtents largest_;
};

}  // namespace tessera::plan

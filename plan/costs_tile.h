#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tessera/plan/costs_cycles.h"
#include "tessera/plan/depth.h"
#include "tessera/plan/holdings.h"
#include "tessera/plan/tiles.h"

// What one tile costs, whatever runs at the same time: docs/program.md, Costs.
namespace tessera::plan {

// The slices of one step that come from one memory, in cycles.
struct SliceCycles {
  int64_t first = 0;  // must be there before the step
  int64_t later = 0;  // arrive during the step
};

struct StepCost {
  int64_t cycles = 0;  // of the engine and of the ports that it works through
  const hw_profiles::Engine* engine = nullptr;
  std::vector<SliceCycles> slices;  // parallel to Profile::memories
};

// One memory.
struct MemoryCost {
  int64_t load = 0;   // cycles of transfers from here to the tile memory
  int64_t store = 0;  // and back
  int64_t read = 0;   // cycles in which engines read here, and write here; the tile memory has none
  int64_t written = 0;
  int64_t load_bytes = 0;
  int64_t store_bytes = 0;
  int64_t other_bytes = 0;  // slices, and what engines read and write here, each operand once
  int64_t bytes_read = 0;   // by whatever reads
  int64_t bytes_written = 0;
};

struct TileCost {
  std::vector<StepCost> steps;
  std::vector<MemoryCost> memories;  // parallel to Profile::memories
};

// Finds the cost of any tile of one subgraph. Plan and users outlive it.
class TileCosting {
 public:
  TileCosting(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);

  // Without the steps that copy kept rows.
  TileCost CostOf(const Tile& tile) const;

  const Held& HeldOf(int tensor) const { return held_.at(tensor); }

 private:
  struct Operand {
    const graph::Tensor& tensor;
    const Held& held;
    const hw_profiles::RoleLayout& layout;
  };
  Operand At(int tensor) const;
  size_t TileMemory() const { return static_cast<size_t>(plan_.profile.tile_memory); }
  bool IsByDepth(int constant) const { return depth_ && depth_->constant == constant; }

  void AddCrossing(int tensor, const Tile& tile, TileCost& cost) const;
  void AddStep(int index, const Tile& tile, TileCost& cost) const;
  void AddOperand(int tensor, const std::vector<int64_t>& extents, Way way,
                  std::vector<MemoryCost>& step) const;
  void AddConstants(const graph::Operator& op, bool idle, std::vector<MemoryCost>& step,
                    TileCost& cost) const;
  void AddDepth(const Tile& tile, const std::vector<int64_t>& result, std::vector<MemoryCost>& step,
                TileCost& cost) const;
  void AddSlice(int home, const Pieces& pieces, bool first, TileCost& cost) const;
  void AddSliced(int home, int64_t bytes, TileCost& cost) const;
  int64_t StartBehindOthers(const TileCost& cost, int64_t start) const;

  const Plan& plan_;
  const Subgraph& subgraph_;
  std::optional<DepthSlices> depth_;
  std::map<int, Held> held_;           // by tensor
  std::map<int, size_t> grows_along_;  // by concatenation that writes a state in its place
};

}  // namespace tessera::plan

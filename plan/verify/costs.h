// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"
#include "tessera/plan/verify/work_count.h"

// The cost of one tile, independent of concurrent work: docs/program.md, Costs.
namespace tessera::plan::verify {

// The slices of one step that come from one memory, in cycles.
struct SliceCycles {
  int64_t first_bytes = 0;
  int64_t first = 0;  // must arrive before the step
  int64_t later = 0;  // arrive during the step
};

struct StepCost {
  int64_t cycles = 0;         // of the engine and of the ports through which it accesses memory
  int64_t arithmetic = 0;     // of the engine alone, if nothing hides its start
  std::vector<int64_t> made;  // of the operator's first output
  int64_t macs = 0;           // multiply-accumulates
  bool measured = false;      // `arithmetic` was measured
  std::optional<double> measured_pj;  // of the multiply-accumulates
  const hw_profiles::Engine* engine = nullptr;
  std::vector<SliceCycles> slices;  // parallel to Profile::memories
};

// One memory.
struct MemoryCost {
  int64_t load = 0;     // cycles of transfers from here to the tile memory
  int64_t store = 0;    // and back
  int64_t read = 0;     // cycles in which engines read here; 0 for the tile memory
  int64_t written = 0;  // cycles in which engines write here; 0 for the tile memory
  int64_t load_bytes = 0;
  int64_t store_bytes = 0;
  int64_t other_bytes = 0;  // slices, and what engines read and write here, each operand once
  int64_t bytes_read = 0;   // by engines and links
  int64_t bytes_written = 0;
  int64_t unused_bytes = 0;  // of bursts that engines read in the tile memory
};

// Adds all members.
void AddAll(const MemoryCost& part, MemoryCost& sum);

struct TileCost {
  std::vector<StepCost> steps;
  std::vector<MemoryCost> memories;  // parallel to Profile::memories
  // of a slot of two stages: the cycles of its steps, those of the first stage on one tile next to
  // those of the second on the tile before
  std::optional<int64_t> side_by_side;
};

// Finds the cost of any tile of one subgraph. Plan and users must outlive it.
class TileCosting {
 public:
  TileCosting(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);

  // Returns the cost of the tile without the steps that copy kept rows; with `late` that of one of
  // two stages.
  TileCost CostOf(const Tile& tile, std::optional<bool> late = std::nullopt);

  const Held& HeldOf(int tensor) const { return held_.at(tensor); }

 private:
  struct Operand {
    const graph::Tensor& tensor;
    const Held& held;
    const hw_profiles::RoleLayout& layout;
  };
  Operand At(int tensor) const;
  size_t TileMemory() const { return static_cast<size_t>(plan_.profile.tile_memory); }
  bool IsLate(int op) const {
    return subgraph_.second_stage > 0 && op >= subgraph_.interval.first + subgraph_.second_stage;
  }
  bool IsSplitK(int constant) const { return k_slices_ && k_slices_->constant == constant; }

  void AddCrossing(int tensor, const Tile& tile, TileCost& cost) const;
  void AddStep(int index, const Tile& tile, TileCost& cost);
  void AddOperand(int tensor, const std::vector<int64_t>& extents, Direction direction,
                  std::vector<MemoryCost>& step) const;
  void AddBlockInputs(const graph::Operator& op, const std::vector<int64_t>& need,
                      const BlockGrid& grid, std::vector<MemoryCost>& step) const;
  int64_t UnusedBytes(int tensor, int64_t bytes) const;
  int TableMemory(const graph::Operator& op) const;
  void AddConstants(const graph::Operator& op, bool idle, int64_t fetches,
                    std::vector<MemoryCost>& step, TileCost& cost) const;
  void AddSplitK(const Tile& tile, const std::vector<int64_t>& result,
                 std::vector<MemoryCost>& step, TileCost& cost) const;
  void AddSlices(const graph::Operator& op, int constant, TileCost& cost) const;
  void AddSlice(int home, const Pieces& pieces, int64_t bytes, bool first, TileCost& cost) const;
  void AddSliced(int home, int64_t bytes, TileCost& cost) const;
  int64_t StartBehindOthers(const TileCost& cost, int64_t start) const;

  const Plan& plan_;
  const Subgraph& subgraph_;
  std::optional<KSlices> k_slices_;
  std::map<int, Held> held_;           // by tensor
  std::map<int, bool> late_;           // whether the second stage touches the tensor first
  std::map<int, size_t> grows_along_;  // by concatenation that writes a state in place
  BlockGrids grids_;
};

// plan::CostOf for callers that visit the tiles themselves, in order. Plan and users must outlive
// it.
class CostCount {
 public:
  CostCount(const Plan& plan, const std::vector<Users>& users, int subgraph);
  void Add(const Tile& tile);

  // `work` counted the same tiles.
  Metrics Finish(const Work& work);

 private:
  // Tiles with equal extents.
  struct Alike {
    TileCost cost;
    std::map<int, Box> kept;  // by tensor
    int64_t count = 0;
    std::array<TileCost, 2> stages = {};  // of two stages
  };
  // Kept rows that are copied, or constants of one home that are loaded once.
  struct Moved {
    int64_t cycles = 0;
    int64_t bytes = 0;
    std::vector<Waiting> transfers = {};  // of constants
  };
  struct Slot {
    int64_t cycles = 0;
    double bytes_per_cycle = 0;
  };
  // Three consecutive tiles as indices into alike_; -1 before the first and after the last.
  using Neighbours = std::array<int, 3>;

  const Subgraph& Current() const { return plan_.subgraphs[static_cast<size_t>(subgraph_)]; }
  const TileCost& CostAt(int slot) const {
    const auto index = static_cast<size_t>(slot);
    return Current().second_stage > 0 ? slots_[index] : alike_[index].cost;
  }
  void PairStages();
  std::vector<Moved> ConstantsOf(const Subgraph& subgraph, std::optional<int> ahead) const;
  std::vector<Moved> CarriedIn(int subgraph) const;
  void Request(std::vector<Moved>& carried) const;
  void AddTransfer(int home, int64_t bytes, bool follows, bool begun, Moved& moved) const;
  void AddSlicesAhead(const Subgraph& subgraph, const graph::Operator& op, int constant,
                      std::optional<int> ahead, Moved& moved) const;
  Moved CopiesOf(const Alike& tile) const;
  int64_t CopiedBytes() const;
  int64_t CopyCycles(const Neighbours& tiles) const;
  int64_t TilePortCycles(const Neighbours& tiles) const;
  int64_t WorkCycles(const Neighbours& tiles) const;
  int64_t SlicesDuring(const Neighbours& tiles, size_t step, size_t memory) const;
  int64_t PortCyclesOf(size_t memory, int64_t in, int64_t out) const;
  int64_t PassOf(const Neighbours& tiles) const;
  Neighbours NeighboursOf(size_t position) const {
    return {position == 0 ? -1 : order_[position - 1], order_[position],
            position + 1 == order_.size() ? -1 : order_[position + 1]};
  }
  int64_t TilePortCyclesOfAll() const;
  int64_t CyclesToCarry() const;
  Slot SerializedSlot(const Neighbours& tiles) const;
  Slot DoubleBufferedSlot(const Neighbours& tiles) const;
  Slot SlotOf(int64_t cycles, const std::vector<int64_t>& bytes) const;
  void AddEnergy(const Work& work, Metrics& metrics) const;

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int subgraph_;
  TileCosting costing_;
  // constants by memory: all of this subgraph; those that arrive when it begins; those of later
  // subgraphs that arrive while it runs
  std::vector<Moved> own_;
  std::vector<Moved> rest_;
  std::vector<Moved> carried_;
  std::map<std::vector<int64_t>, int> numbers_;  // by all extents of a tile
  std::vector<Alike> alike_;
  std::vector<int> order_;       // of tiles, into alike_
  std::vector<TileCost> slots_;  // of two stages: different slots; then order_ refers to them
  TileMaxima largest_;
};

// The cost of one subgraph (docs/program.md, docs/profile-format.md): latency_cycles, energy_pj
// with energy_by_part, off_chip_bytes with off_chip_by_cause, macs, recomputed_macs, unknown_work,
// peak_bytes_per_cycle. bound_by is left empty and peak_bytes 0. `subgraph` is an index into
// plan.subgraphs; the partition has passed CheckPartition. Cost: tiles times operators.
Metrics CostOf(const Plan& plan, const std::vector<Users>& users, int subgraph);

}  // namespace tessera::plan::verify

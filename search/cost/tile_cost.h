// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/output_blocks.h"
#include "tessera/search/cost/split_k_cost.h"
#include "tessera/search/cost/traffic.h"

// The cost of one tile, independent of concurrent work. Tiles of one class cost the same.
namespace tessera::search::cost {

// The traffic of a tile over the port of one off-chip memory.
struct Flow {
  int64_t load_cycles = 0;  // DMA into the tile memory
  int64_t store_cycles = 0;
  int64_t direct_read_cycles = 0;  // engines that work in that memory
  int64_t direct_write_cycles = 0;
  int64_t load_bytes = 0;
  int64_t store_bytes = 0;
  // each operand once, however many operators read it, and what output blocks fetch again
  int64_t direct_read_bytes = 0;
  int64_t direct_write_bytes = 0;
  int64_t direct_constant_bytes = 0;

  int64_t DirectBytes() const {
    return base::SaturatingAdd(base::SaturatingAdd(direct_read_bytes, direct_write_bytes),
                               direct_constant_bytes);
  }
  int64_t Bytes() const {
    return base::SaturatingAdd(base::SaturatingAdd(load_bytes, store_bytes), DirectBytes());
  }
};

struct TileCost {
  // Cycles of each operator's step: the slowest of arithmetic and the ports it uses.
  std::vector<int64_t> engine;
  std::vector<const hw_profiles::Engine*> runs_on;  // parallel to `engine`
  int64_t copies = 0;                               // cycles of the steps that copy kept rows
  int64_t compute = 0;                              // arithmetic only
  int64_t tile_memory = 0;  // busy cycles of the tile memory's port for engines
  Touched at_engines;       // bytes at that port for engines, whole bursts where they count
  std::vector<Flow> flows;  // parallel to Profile::memories; empty flow for the tile memory
  // Bytes, parallel to Profile::memories: of feature tensors, of constants that engines read, and
  // of slices of K.
  std::vector<Touched> touched;
  SplitKCost split_k;  // if the subgraph uses split-k
  // Steps whose energy was measured, and that energy in pJ.
  std::vector<std::pair<size_t, double>> measured_pj;
  // Of a slot of two stages: when each step begins, parallel to `engine`, and when all are done.
  std::vector<int64_t> begins;
  std::optional<int64_t> side_by_side;

  // Returns the cycles before the next tile in which the engines that run the operators idle, all
  // at the same time.
  int64_t IdleCycles() const;
};

// The constants of one operator in one of their homes, except a constant that split-k cuts: each
// tile reads its part of that constant.
struct ConstantCost {
  int64_t bytes = 0;           // with tables
  int64_t streamed_bytes = 0;  // bytes of constants that are streamed in slices
  // The slices that must arrive before the step begins, over all constants that are streamed.
  int64_t first_slice_cycles = 0;
  int64_t first_slice_bytes = 0;
  int64_t later_slices_cycles = 0;
  int64_t direct_cycles = 0;
  // Of engines that read them once more in their home, without tables.
  int64_t refetch_bytes = 0;
  int64_t refetch_cycles = 0;

  // Returns the bytes of engines that read them so often in their home.
  int64_t DirectBytes(int64_t fetches) const {
    return base::SaturatingAdd(bytes, base::SaturatingMul(refetch_bytes, fetches - 1));
  }
};

// The constants that come from one of their homes: once in the prologue or before it, or slice by
// slice with every tile. Under a streamed policy there are both kinds.
struct ConstantFlow {
  int home = 0;  // index into Profile::memories
  // By operator of the interval, if slices arrive ahead: the slices that do not. Those that arrive
  // in the prologue count as resident.
  std::vector<SliceFlow> rest = {};
  int64_t resident_cycles = 0;
  int64_t resident_bytes = 0;
  int64_t prefetched_bytes = 0;  // of those that were present when the subgraph began
  int64_t streamed_cycles = 0;   // of all slices of one tile
  int64_t streamed_bytes = 0;
  // The first slice of the subgraph's first operator, which arrives before the tile's first step.
  int64_t first_slice_cycles = 0;
  int64_t first_slice_bytes = 0;

  int64_t CyclesMoved(int64_t tiles) const {
    return base::SaturatingAdd(base::SaturatingMul(streamed_cycles, tiles), resident_cycles);
  }
  int64_t BytesMoved(int64_t tiles) const {
    return base::SaturatingAdd(base::SaturatingAdd(resident_bytes, prefetched_bytes),
                               base::SaturatingMul(streamed_bytes, tiles));
  }
};

// Returns the bytes that pass the tile memory's port while a tile is computed: those of engines,
// loads of the next tile, stores of the previous one (null: none), and the slices that arrive: this
// tile's but the first, and the next one's first.
Touched TileMemoryTraffic(const TileCost* previous, const TileCost& here, const TileCost* next,
                          std::span<const ConstantFlow> constants);

// Adds the bytes that all tiles and constants move across the ports of other memories than the tile
// memory.
void AddOffChipBytes(const graph::tiling::TiledSubgraph& tiling, std::span<const TileCost> classes,
                     std::span<const ConstantFlow> constants, Detail detail,
                     plan::Metrics& metrics);

// Returns the bytes that all tiles of a subgraph and its moved constants touch in each memory.
// `classes` are parallel to the tiling's.
std::vector<Touched> BytesTouched(const hw_profiles::Profile& profile,
                                  const graph::tiling::TiledSubgraph& tiling,
                                  std::span<const TileCost> classes,
                                  std::span<const ConstantFlow> constants);

// Returns the name of what works longest in a subgraph: "compute", which wins a tie, or the path of
// a memory. `classes` are parallel to the tiling's; in all slots, the tile memory's port takes
// `tile_port` cycles, and the steps of two stages `side_by_side`, if there are two.
std::string LongestPath(const hw_profiles::Profile& profile,
                        const graph::tiling::TiledSubgraph& tiling,
                        std::span<const TileCost> classes, std::span<const ConstantFlow> constants,
                        const Prefetches& prefetches, int64_t tile_port, int64_t side_by_side);

// The costs of the tiles of one subgraph. Contains all data that does not depend on the tile.
class TileCosts {
 public:
  TileCosts(const graph::Graph& graph, const hw_profiles::Profile& profile,
            const std::vector<graph::Usage>& usages, const graph::tiling::TiledSubgraph& tiling,
            const encoder::program::Policy& policy);

  // Returns the cost of one tile; with `late`, of its first or second stage. `blocks` finds its
  // output blocks.
  TileCost CostOf(const graph::tiling::TileClass& tile, BlockChoices& blocks,
                  std::optional<bool> late = std::nullopt) const;

  // KeepByCopying switches from rolling buffers to copied rows. AddCopies adds the cost of the
  // copies to a tile.
  void KeepByCopying(const graph::tiling::TiledSubgraph& tiling);
  void AddCopies(const graph::tiling::TileClass& tile, TileCost& cost) const;

  bool HasTwoStages() const { return second_stage_ > 0; }
  // Whether an operator, counted from the first, is of the second stage.
  bool IsLate(int step) const { return second_stage_ > 0 && step >= second_stage_; }
  bool IsSplitK() const { return cut_.has_value(); }
  bool TakesSplitK(int tensor) const { return cut_ && cut_->Takes(tensor); }

  // ConstantTransfer returns the transfer of the constants. ConstantHomes returns the homes of the
  // constants that are not in the tile memory, at least one home. ConstantsIn returns their costs
  // in one of these homes, by operator of the interval.
  TransferKind ConstantTransfer() const { return constant_transfer_; }
  const std::vector<int>& ConstantHomes() const { return constant_homes_; }
  std::span<const ConstantCost> ConstantsIn(size_t home) const {
    return std::span(constants_).subspan(home * Operators(), Operators());
  }
  // Returns the flows from all homes; empty if constants are not moved. `prefetch` states when the
  // constants that are loaded once arrive, and if there is one tile, when slices arrive
  // (plan::Subgraph::prefetch).
  std::vector<ConstantFlow> ConstantFlowsOf(hw_profiles::WeightPolicy policy,
                                            std::span<const int> prefetch) const;

  size_t Operators() const { return static_cast<size_t>(interval_.last - interval_.first) + 1; }

 private:
  struct Operand {
    size_t index = 0;  // into TiledSubgraph::tensors
    int id = 0;        // of the tensor
    const graph::Tensor* tensor = nullptr;
    Route route;
    bool made_inside = false;
    bool read_inside = false;
    bool late = false;  // the second stage touches it first
  };

  // An operator, with its operands as indices into `operands_`.
  struct Step {
    const graph::Operator* op = nullptr;
    Worker worker;
    std::vector<size_t> inputs;
    std::vector<size_t> outputs;
    // The axis along which the result grows in place of the first input.
    std::optional<size_t> growth = {};
  };

  // The reads and writes of one step, parallel to Profile::memories.
  struct StepTraffic {
    std::vector<Touched> bytes;
    std::vector<Touched> direct_cycles;
    std::vector<int64_t> refetched_bytes;  // of direct inputs, beyond one read
    int64_t unused_bytes = 0;              // in bursts that engines read in the tile memory
  };

  // Rows of a tensor that are copied from tile to tile.
  struct Copied {
    size_t operand = 0;
    graph::tiling::Extents row;  // of one row
    size_t rows = 0;             // the axis
  };

  ConstantCost CostOfConstants(int index, int home) const;
  void TakeSlicesAhead(std::span<const int> prefetch, std::vector<ConstantFlow>& flows) const;
  Operand OperandOf(int tensor, const graph::Usage& usage, size_t index,
                    const std::vector<int>& kept) const;
  Step StepOf(int index, const std::vector<graph::Usage>& usages) const;
  void AddTransfers(const graph::tiling::TileClass& tile, std::optional<bool> late,
                    TileCost& cost) const;
  void AddCrossing(const Operand& operand, graph::tiling::ExtentsView extents, Direction direction,
                   TileCost& cost) const;
  void AddSplitK(const graph::tiling::TileClass& tile, TileCost& cost) const;
  bool IsSliced(const Operand& operand) const;
  int64_t ExposedStart(const Compute& compute, const TileCost& cost) const;
  void AddStep(const graph::tiling::TileClass& tile, size_t step, BlockChoices& blocks,
               StepTraffic& traffic, TileCost& cost) const;
  graph::tiling::ExtentsView MovedOf(const graph::tiling::TileClass& tile, size_t step,
                                     graph::tiling::Extents& part) const;
  void FindTraffic(const graph::tiling::TileClass& tile, size_t step,
                   graph::tiling::ExtentsView moved, const SplitKCost& split_k,
                   const std::optional<Blocking>& blocking, StepTraffic& traffic) const;
  std::optional<Blocking> BlockingOf(const graph::tiling::TileClass& tile, size_t step,
                                     graph::tiling::ExtentsView moved, BlockChoices& blocks) const;
  int64_t UnusedBytes(const Operand& operand, int64_t bytes) const;
  double TableCycles(const Step& step, const Block& block) const;
  void TouchBlocks(const Operand& operand, graph::tiling::ExtentsView needed,
                   const Blocking& blocking, StepTraffic& traffic) const;
  void Touch(const Operand& operand, graph::tiling::ExtentsView extents, Direction direction,
             StepTraffic& traffic) const;
  void FindCopied(const graph::tiling::TiledSubgraph& tiling);

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  graph::Interval interval_;
  int64_t tiles_;
  int second_stage_;  // Policy::second_stage
  std::optional<encoder::program::KCut> cut_;
  TransferKind constant_transfer_;
  std::vector<int> constant_homes_;
  std::vector<ConstantCost> constants_;  // by home, then by operator
  std::vector<Operand> operands_;  // parallel to TiledSubgraph::tensors, so ascending by tensor
  std::vector<Step> steps_;        // parallel to the interval's operators
  std::vector<Copied> copied_;
  bool restores_ = false;  // kept rows are copied twice: out of the tile and into the next one
};

}  // namespace tessera::search::cost

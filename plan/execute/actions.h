#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/execute/tile_boxes.h"
#include "tessera/plan/plan.h"

// What one subgraph moves and computes, one instruction at a time.
namespace tessera::plan::execute {

class Actions {
 public:
  Actions(const Plan& plan, const Contents& contents, const std::vector<Users>& users,
          Places& places, int subgraph);

  int64_t Tiles() const { return tiles_.Count(); }
  const Subgraph& Of() const { return plan_.subgraphs[static_cast<size_t>(subgraph_)]; }

  // How a tensor that a step says it moves is held here.
  bool ComesIn(int tensor) const;  // in tile buffers, made elsewhere and read here
  bool GoesOut(int tensor) const;  // in tile buffers, made here
  bool IsResident(int tensor) const { return IsConstant(tensor) && places_.IsResident(tensor); }
  bool IsPrefetched(int tensor) const { return IsConstant(tensor) && places_.IsPrefetched(tensor); }
  bool IsStreamed(int op, int tensor) const;

  // In how many rounds the operator makes its result: one for each slice of what it streams.
  int64_t RoundsOf(int op) const;

  // Transfers; finished by their number.
  StartTransfer LoadTile(int tensor, int64_t tile, int phase, const Steps& steps);
  StartTransfer StoreTile(int tensor, int64_t tile, int phase, const Steps& steps);
  StartTransfer LoadResident(int constant, const Steps& steps);
  StartTransfer Prefetch(int constant, int64_t tile, int phase, const Steps& steps);
  StartTransfer LoadSlice(int op, int constant, const RunIndex& turn, const Steps& steps);

  // The rows that the operator's copy step brings back into the tile from the one before, or puts
  // aside for the one after, whose phase is given too. Without moves where there are none.
  Copy Restore(int op, int64_t tile, int phase, int64_t step);
  Copy Save(int op, int64_t tile, int phase, int next_phase, int64_t step);

  // Whether rows of anything are copied by the operator's side.
  bool Restores(int op) const { return !CopiedBy(op, /*first=*/true).empty(); }
  bool Saves(int op) const { return !CopiedBy(op, /*first=*/false).empty(); }

  // One round of the operator on its part of a tile; slices are read in the turn's slot.
  Compute Run(int op, const RunIndex& turn, int64_t step);

 private:
  const graph::Operator& At(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }
  bool IsInput(int tensor) const;  // of an operator here, as a feature
  const graph::Tensor& TensorAt(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }
  bool IsConstant(int tensor) const { return TensorAt(tensor).constant; }
  const TileBoxes& BoxesOf(int64_t tile);
  Slice SliceOf(int op, int constant, int64_t round) const;
  std::string EngineOf(int op) const;
  std::vector<int> CopiedBy(int op, bool first) const;
  bool IsRestored(int tensor, const TilePart& part) const;
  bool WorksByChannel(const Compute& compute) const;
  bool BeginsAnew(const Result& result, const TilePart& part) const;
  void AddConstant(int op, size_t position, const Intent& intent, Compute& compute);
  void LeavePadsThatAreThere(Result& result);

  // Where slices are of the depth (depth_actions.cc).
  bool IsSplitK(int op) const;
  std::optional<size_t> KAxisOf(int op, int tensor) const;
  int64_t DepthOf(int op) const;
  int64_t KGranularity() const {
    return Of().k_extent > 0 ? Of().k_extent : plan_.profile.tiling.k_granularity;
  }
  Slice KSliceOf(int op, int tensor, int64_t round) const;
  Box KSliceBoxOf(int op, int tensor, const RunIndex& turn);
  Range ChannelsOf(int op, int64_t tile);
  Place KSlicePlaceOf(int op, int tensor, const RunIndex& turn, const Intent& intent);
  StartTransfer LoadKSlice(int op, int tensor, const RunIndex& turn, const Steps& steps);
  void AddSplitKConstant(int op, size_t position, const Intent& intent, Compute& compute);
  void AddUp(int op, int64_t step, Compute& compute) const;

  StartTransfer LoadConstant(int constant, graph::Interval users, const RunIndex& turn,
                             const Steps& steps, const std::function<Place(bool table)>& place);
  StartTransfer Start(int tensor, std::vector<Move> moves, const RunIndex& turn);
  std::string LinkOf(int tensor) const;

  const Plan& plan_;
  const Contents& contents_;
  const std::vector<Users>& users_;
  Places& places_;
  int subgraph_;
  execute::Tiles tiles_;
  std::map<int64_t, TileBoxes> boxes_;  // of the tiles around the one that runs
  std::set<std::vector<int64_t>>
      bordered_;  // of whole tensors: tensor, axis of pads, box along the others
  int64_t transfers_ = 0;
};

}  // namespace tessera::plan::execute

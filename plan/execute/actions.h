// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::execute {

// Converts the transfers, runs of operators and copies of one subgraph (verify/passes.h) to
// instructions, which name places and boxes. The arguments must outlive it.
class Actions {
 public:
  Actions(const Plan& plan, const Contents& contents, const std::vector<verify::Users>& users,
          const verify::SubgraphResidency& here, std::span<const verify::SubgraphResidency> carried,
          Places& places);

  int64_t Tiles() const { return tiles_.Count(); }

  StartTransfer Start(const verify::Transfer& transfer, int64_t number);

  // Returns one round of the operator on its part of a tile.
  Compute Run(int op, const RunIndex& run, problem::Step step);

  // Restore returns the copy of the rows that the previous tile kept into this tile. Save returns
  // the copy of the rows that the next tile needs; `next_phase` is the phase of the next tile. The
  // copy has no moves if there are no such rows.
  Copy Restore(int op, const RunIndex& run, problem::Step step);
  Copy Save(int op, const RunIndex& run, int next_phase, problem::Step step);

 private:
  const graph::Tensor& TensorAt(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }
  const verify::Tile& TileAt(int64_t tile);
  Box MadeIn(int64_t tile, int tensor);

  std::vector<Move> MovesOf(const verify::Transfer& transfer);
  Move LoadTile(int tensor, const RunIndex& run, const Intent& reads, const Intent& writes);
  Move StoreTile(int tensor, const RunIndex& run, const Intent& reads, const Intent& writes);
  std::vector<Move> LoadConstant(const verify::SubgraphResidency& user, int constant,
                                 const Intent& reads, const Intent& writes);
  std::vector<Move> LoadSlice(const verify::SubgraphResidency& user,
                              const verify::Transfer& transfer, const Intent& reads,
                              const Intent& writes);
  std::string LinkOf(int tensor) const;

  // Streamed operands of this subgraph, or of a later one whose slices arrive ahead.
  bool HasTable(int op, int constant) const;
  verify::FilterAxes FiltersOf(int op) const {
    return *verify::FilterAxesOf(plan_.network, here_.At(op), 0);
  }
  Range ChannelsOf(const verify::SubgraphResidency& user, int op, int constant,
                   const RunIndex& run);
  Box SliceBoxOf(const verify::SubgraphResidency& user, int op, int tensor, const RunIndex& run);
  Range TableOf(const verify::SubgraphResidency& user, int op, int constant, const RunIndex& run);

  void AddConstant(int op, size_t position, const Intent& intent, Compute& compute);
  void AddUp(int op, const Intent& reads, const Intent& writes, Compute& compute);
  bool WorksByChannel(const Compute& compute) const;
  bool StartsNewBuffer(const Result& result, int64_t tile);
  void LeavePadsThatAreThere(Result& result);

  const Plan& plan_;
  const Contents& contents_;
  const verify::SubgraphResidency& here_;
  std::span<const verify::SubgraphResidency> carried_;
  Places& places_;
  const verify::Tiles tiles_;
  verify::TileMaxima largest_;
  std::map<int64_t, verify::Tile> recent_;  // the tiles around the one that runs
  // of whole tensors: tensor, axis of pads, box along the others
  std::set<std::vector<int64_t>> padded_;
};

}  // namespace tessera::plan::execute

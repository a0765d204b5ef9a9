#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tessera/plan/moment_log.h"
#include "tessera/plan/subgraph_holdings.h"

// Who touches which buffer at one step of a program.
namespace tessera::plan {

// Slices after which a loop over slices shows nothing new.
inline constexpr int64_t kRoundsShown = 3;

// Writes into a log what happens at the step that runs: for an operator, in a pass of that parity, for that tile. A buffer holds
// one value for each tile or, of streamed operands, for each slice of each tile; but a ring holds one for all tiles, and what is resident or
// whole is one.
class Touches {
 public:
  // The subgraph that runs from here on; outlives this.
  void EnterSubgraph(const SubgraphHoldings& here) { here_ = &here; }

  void RunStep(problem::Step step);

  // Links. What is resident may be of the subgraph after, and arrive ahead.
  void LoadResident(const SubgraphHoldings& of, int constant);
  void LoadResidents(const SubgraphHoldings& of);
  void MoveTile(int tensor, int parity, int64_t tile, problem::AccessKind kind);
  void LoadSlice(int op, int tensor, int64_t tile, int64_t round);

  // Slot 0 of every streamed operand of `op` is filled for a tile that will be computed next.
  void FillFirstSlots(int op, int parity, int64_t tile);

  // Further slices arrive in both slots while the operator computes.
  void FillWhileComputing(int op, int parity, int64_t tile);

  // C_k for one tile and one group of slices.
  void Compute(int op, int parity, int64_t tile, int64_t round);

  // R_k: the rows that the tile before has left come into the tile.
  void Restore(int op, int parity, int64_t tile);

  // S_k: rows are put aside for the tile after, whose parity is given too.
  void Save(int op, int parity, int next_parity, int64_t tile);

  // The whole buffer is needed at the first moment of all, or at the latest, though nobody touches it then.
  void HoldFromTheFirst(int tensor) { log_.Hold(WholeOf(tensor), 0, 0); }
  void HoldToTheLast(int tensor) { log_.Hold(WholeOf(tensor), 0, log_.Now()); }

  // All that was touched, on the program's `steps` steps.
  std::map<BufferUse, Sighting, UseOrder> Fold(size_t steps) const { return log_.Fold(steps); }

  // Step and tensor of each transfer.
  const std::set<std::pair<problem::Step, int>>& Transfers() const { return transfers_; }

 private:
  static BufferUse WholeOf(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }
  int64_t ValueOf(int tensor, int64_t tile) const;
  void Move(const BufferUse& use, int64_t value, problem::AccessKind kind);
  void MoveBy(const std::string& link, const BufferUse& use, int64_t value, problem::AccessKind kind);
  void WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine);
  void TouchOperand(int tensor, int parity, int64_t tile, const std::string& engine,
                    problem::AccessKind kind);
  void TouchConstant(int op, int constant, int parity, int64_t slice, const std::string& engine);

  const SubgraphHoldings* here_ = nullptr;
  MomentLog log_;
  problem::Step step_ = 0;  // that runs
  std::set<std::pair<problem::Step, int>> transfers_;
};

}  // namespace tessera::plan

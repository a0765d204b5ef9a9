// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

// Executes the steps of a subgraph, tile by tile: the transfers, computations and copies of each.
// No other code converts steps to a running program (docs/program.md, "Steps of a subgraph"):
//
//     derived steps --------.                        .--> Touches: which buffers live how long
//     (program_trace.cc)    |    RunSerialized       |    (buffer_touches.h)
//                           +--> RunDoubleBuffered --+
//     steps of a plan       |                        |    instructions with places
//     (plan/execute) -------'                        '--> (plan/execute)
//
namespace tessera::plan::verify {

// One run of a transfer, an operator or a copy: its tile, and its round among those of the tile.
struct RunIndex {
  int64_t tile = -1;  // -1: for the subgraph, before its tiles
  int phase = 0;
  int64_t round = 0;
  int64_t rounds = 1;
  int slot = 0;  // of slices
};

// A transfer may move any byte at any moment of its steps, which are in the order in which they
// run.
struct Transfer {
  enum class Kind : uint8_t {
    kLoad,      // a tile's part of a tensor that is loaded
    kStore,     // and of one that is stored
    kResident,  // a constant of the subgraph
    kPrefetch,  // a resident constant of a later subgraph, or a slice for its operator `op`
    kSlice,     // a slice for `op`, that of the run's round
  };
  Kind kind = Kind::kLoad;
  int tensor = -1;
  int op = -1;  // -1: no slice
  RunIndex run;
  std::vector<problem::Step> steps;
  size_t carried = 0;  // kPrefetch: which of SubgraphSteps::carried uses it
  // Of a slice: the subgraphs by which it is ahead of its user. Then it may be a share of the slice
  // (ShareOfSlice).
  std::optional<int> ahead = std::nullopt;
};

// Receives the events in order.
class PassVisitor {
 public:
  virtual void Enter(problem::Step step, int64_t tile) = 0;  // -1: outside tiles

  // Begin begins a transfer and returns its number. End ends the transfer with that number.
  virtual int64_t Begin(const Transfer& transfer) = 0;
  virtual void End(int64_t transfer) = 0;

  // The rounds in which the operator makes its result: at least 1.
  virtual int64_t RoundsOf(int op) = 0;
  virtual void Compute(int op, const RunIndex& run, problem::Step step) = 0;

  // The operator, of a second stage, may run at this step too.
  virtual void MayCompute(int /*op*/, const RunIndex& /*run*/) {}

  // Restore: the operator's engine copies rows that the previous tile kept into this tile. Save: it
  // keeps rows for the next tile, whose phase is `next_phase`.
  virtual void Restore(int op, const RunIndex& run, problem::Step step) = 0;
  virtual void Save(int op, const RunIndex& run, int next_phase, problem::Step step) = 0;

  // A step states an action that is impossible.
  virtual void Refuse(const std::string& why) = 0;

 protected:
  ~PassVisitor() = default;
};

// Steps [begin, end) of one subgraph. A step moves only the tensors that it names.
struct StepRange {
  problem::Step begin = 0;
  problem::Step end = 0;
};
struct SubgraphSteps {
  const graph::Graph& network;
  const std::vector<StepUse>& steps;  // of the program
  StepRange own;
  const SubgraphResidency& here;
  std::span<const SubgraphResidency> carried;  // later subgraphs with constants that arrive here

  const StepUse& At(problem::Step step) const { return steps[static_cast<size_t>(step)]; }
  bool Computes(problem::Step step) const { return At(step).kind == StepKind::kCompute; }
  bool Copies(problem::Step step) const { return At(step).kind == StepKind::kCopy; }

  // The residency of a tensor that a step names.
  bool Arrives(int tensor) const { return here.Is(tensor, Residency::kLoaded); }
  bool Leaves(int tensor) const {
    return here.Is(tensor, Residency::kStored) || here.Is(tensor, Residency::kInner);
  }
  bool IsResident(int tensor) const { return HasShare(here, tensor); }
  // Whether a part of a constant that `user` loads once arrives here. `user` is this subgraph or a
  // later one.
  bool HasShare(const SubgraphResidency& user, int tensor) const {
    if (!user.Is(tensor, Residency::kResident)) return false;
    const Range share = ShareOf(network, user.Current(), tensor, user.Index() - here.Index());
    return share.begin < share.end;
  }
  // Whether slices of a constant of `user` arrive here, ahead of its operators.
  bool HasSlices(const SubgraphResidency& user, int tensor) const {
    return user.HasSlicesAhead(tensor, user.Index() - here.Index());
  }
  bool IsPrefetched(int tensor) const {
    return std::any_of(carried.begin(), carried.end(),
                       [this, tensor](const SubgraphResidency& later) {
                         return HasShare(later, tensor) || HasSlices(later, tensor);
                       });
  }
};

// Runs tiles 0 .. tiles - 1 of a serialized subgraph, in which transfers have separate steps. The
// one pass runs for every tile.
void RunSerialized(const SubgraphSteps& subgraph, int64_t tiles, PassVisitor& visitor);

// Runs the tiles of a double-buffered subgraph, in which transfers overlap compute. There are up to
// three passes; from four tiles on, two of them alternate.
void RunDoubleBuffered(const SubgraphSteps& subgraph, int64_t tiles, PassVisitor& visitor);

// Runs a copy step. A step before the step in which its operator computes in `pass` restores rows.
// Any other step saves rows for the next tile, if there is one.
void RunCopy(const SubgraphSteps& subgraph, problem::Step step, StepRange pass, const RunIndex& run,
             std::optional<int> next_phase, PassVisitor& visitor);

// Reports that a step moves a tensor that it must not move.
void RefuseTransfer(const SubgraphSteps& subgraph, problem::Step step, int tensor,
                    PassVisitor& visitor);

}  // namespace tessera::plan::verify

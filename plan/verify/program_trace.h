#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/plan/verify/residency.h"

// Executes the planned program and records which operator or link touches which buffer at which
// step.
namespace tessera::plan::verify {

struct UseOrder {
  bool operator()(const BufferUse& a, const BufferUse& b) const {
    return std::tie(a.kind, a.subgraph, a.tensor, a.op, a.phase, a.slot) <
           std::tie(b.kind, b.subgraph, b.tensor, b.op, b.phase, b.slot);
  }
};

// The observed use of a buffer, folded onto the steps of the program.
struct ObservedUse {
  std::vector<problem::Lifespan> lifespans;
  std::vector<problem::Access> accesses;  // by step, engine, kind; each once
};

// Steps at which one operator computes in one pass: C_k, or all of its slice loop. Passes may share
// a phase.
struct OperatorSteps {
  int op = 0;
  int phase = 0;
  problem::Lifespan steps;
};

struct Trace {
  std::vector<StepUse> steps;
  std::vector<problem::Loop> loops;               // ascending
  std::vector<problem::Lifespan> subgraph_steps;  // parallel to Plan::subgraphs
  std::vector<OperatorSteps> turns;
  // parallel to Plan::subgraphs: tensors whose rows stay from tile to tile
  std::vector<std::set<int>> cached;
  std::map<BufferUse, ObservedUse, UseOrder> buffers;
};

// The whole program. Each loop runs often enough to show all its behaviours. Subgraphs cover the
// network, and none of their tensors has a fault. `cached` is Trace::cached; if it is left out,
// nothing is cached. Cost: moments executed times tensors moved, plus buffers times moments.
Trace Execute(const Plan& plan, const std::vector<Users>& users,
              std::vector<std::set<int>> cached = {});

// The events of a running program. At each moment one of its steps is executed, and buffers are
// touched. A buffer holds values, which are distinguished by number. Each value stays from the
// first moment that touches it to the last.
class MomentLog {
 public:
  // Begins a moment that executes this step.
  void RunStep(problem::Step step) { moments_.push_back(step); }

  // The latest moment. RunStep has been called.
  size_t Now() const { return moments_.size() - 1; }

  void Touch(const BufferUse& use, int64_t value, const std::string& engine,
             problem::AccessKind kind);

  // The value is needed at that moment although it is not touched.
  void Hold(const BufferUse& use, int64_t value, size_t moment);

  // Every buffer's stays and accesses on the program's `steps` steps. Cost: moments that values
  // stay.
  std::map<BufferUse, ObservedUse, UseOrder> Fold(size_t steps) const;

 private:
  struct Stay {
    size_t first = 0;
    size_t last = 0;
  };
  struct Record {
    std::set<std::tuple<problem::Step, std::string, problem::AccessKind>> accesses;
    std::map<int64_t, Stay> stays;  // by value
  };
  std::vector<problem::Lifespan> LifespansOf(const Record& record, size_t steps) const;

  std::vector<problem::Step> moments_;
  std::map<BufferUse, Record, UseOrder> records_;
};

// A streamed operand of one operator.
struct Stream {
  int tensor = 0;
  int64_t slices = 1;
};

// One subgraph: how it holds each of its tensors, and which of its operators moves or copies them.
// Plan and users must outlive it.
class SubgraphResidency {
 public:
  // `cached`: the tensors whose rows stay from tile to tile.
  SubgraphResidency(const Plan& plan, const std::vector<Users>& users, int subgraph,
                    std::set<int> cached);

  int Index() const { return subgraph_; }
  const Subgraph& Current() const { return plan_->subgraphs[static_cast<size_t>(subgraph_)]; }
  const graph::Operator& At(int op) const {
    return plan_->network.operators[static_cast<size_t>(op)];
  }
  const Held& HeldOf(int tensor) const { return held_.at(tensor); }

  // The tensors with that residency, in order of first use.
  std::vector<int> All(Residency residency) const;

  // Each once.
  std::vector<Stream> StreamsOf(int op) const;

  // Whether rows of the tensor stay from tile to tile, with that halo policy.
  bool Caches(int tensor, hw_profiles::HaloStorage halo) const;

  // The cached tensors that the operator makes or, if they are loaded, reads before all others; and
  // those that it reads last.
  std::vector<int> CachedFirstBy(int op) const { return CachedAt(op, true); }
  std::vector<int> CachedLastBy(int op) const { return CachedAt(op, false); }

  // Whether rows are copied into tiles before the operator's step, or out of them after it.
  bool Restores(int op) const;
  bool Saves(int op) const;

  // The engine's name; empty if no engine runs the operator.
  std::string EngineNameOf(int op) const;
  bool HasScratch(int op) const;

  // Whether the operator accumulates slice by slice.
  bool Accumulates() const { return k_slices_.has_value(); }

  // Its buffers. A rolling buffer is the tile buffer of both phases.
  BufferUse TileOf(int tensor, int phase) const;
  BufferUse LineOf(int tensor) const { return {BufferKind::kLine, subgraph_, tensor, -1, 0, 0}; }
  BufferUse HaloOf(int tensor, int phase) const {
    return {BufferKind::kHalo, subgraph_, tensor, -1, phase, 0};
  }
  BufferUse ResidentOf(int constant) const {
    return {BufferKind::kResident, subgraph_, constant, -1, 0, 0};
  }
  BufferUse SliceOf(int op, int tensor, int phase, int slot) const {
    return {BufferKind::kSlice, subgraph_, tensor, op, phase, slot};
  }
  BufferUse ScratchOf(int op, int phase) const {
    return {BufferKind::kScratch, subgraph_, -1, op, phase, 0};
  }
  BufferUse AccumulatorOf(int op, int phase) const {
    return {BufferKind::kAccumulator, subgraph_, -1, op, phase, 0};
  }

 private:
  std::vector<int> CachedAt(int op, bool first) const;

  const Plan* plan_;
  int subgraph_;
  std::set<int> cached_;
  std::map<int, Held> held_;
  std::optional<KSlices> k_slices_;
};

// The buffers that are touched at one step of a program.

// After this many slices a loop over slices shows no new behaviour.
inline constexpr int64_t kRoundsShown = 3;

// Records the events of the step that runs: for an operator, in a pass of that phase, for that
// tile. A buffer holds one value for each tile or, for streamed operands, for each slice of each
// tile. A rolling buffer holds one value for all tiles, and so does a resident or whole buffer.
class Touches {
 public:
  // The subgraph that runs from here on. It must outlive this object.
  void EnterSubgraph(const SubgraphResidency& here) { here_ = &here; }

  void RunStep(problem::Step step);

  // Links. A resident constant may belong to the next subgraph and arrive ahead.
  void LoadResident(const SubgraphResidency& of, int constant);
  void LoadResidents(const SubgraphResidency& of);
  void MoveTile(int tensor, int phase, int64_t tile, problem::AccessKind kind);
  void LoadSlice(int op, int tensor, int64_t tile, int64_t round);

  // Slot 0 of every streamed operand of `op` is filled for a tile that will be computed next.
  void FillFirstSlots(int op, int phase, int64_t tile);

  // Further slices arrive in both slots while the operator computes.
  void FillWhileComputing(int op, int phase, int64_t tile);

  // C_k for one tile and one group of slices.
  void Compute(int op, int phase, int64_t tile, int64_t round);

  // R_k: the rows that the previous tile has left are copied into the tile.
  void Restore(int op, int phase, int64_t tile);

  // S_k: rows are saved for the next tile, whose phase is also given.
  void Save(int op, int phase, int next_phase, int64_t tile);

  // The whole buffer is needed at the first moment of all, or at the latest, although it is not
  // touched then.
  void HoldFromTheFirst(int tensor) { log_.Hold(WholeOf(tensor), 0, 0); }
  void HoldToTheLast(int tensor) { log_.Hold(WholeOf(tensor), 0, log_.Now()); }

  // All recorded uses, on the program's `steps` steps.
  std::map<BufferUse, ObservedUse, UseOrder> Fold(size_t steps) const { return log_.Fold(steps); }

  // Step and tensor of each transfer.
  const std::set<std::pair<problem::Step, int>>& Transfers() const { return transfers_; }

 private:
  static BufferUse WholeOf(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }
  int64_t ValueOf(int tensor, int64_t tile) const;
  void Move(const BufferUse& use, int64_t value, problem::AccessKind kind);
  void MoveBy(const std::string& link, const BufferUse& use, int64_t value,
              problem::AccessKind kind);
  void WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine);
  void TouchOperand(int tensor, int phase, int64_t tile, const std::string& engine,
                    problem::AccessKind kind);
  void TouchConstant(int op, int constant, int phase, int64_t slice, const std::string& engine);

  const SubgraphResidency* here_ = nullptr;
  MomentLog log_;
  problem::Step step_ = 0;  // the step that runs
  std::set<std::pair<problem::Step, int>> transfers_;
};

}  // namespace tessera::plan::verify

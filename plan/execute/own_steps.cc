#include <fmt/core.h>

#include <algorithm>

#include "tessera/plan/execute/passes.h"

// The pass is one, run for every tile; a slice's load and its operator run once for each slice:
//
//     load w | load x  restore  load w2  conv1  save ... store y |
//            |                  '-- slice loop               |
namespace tessera::plan::execute {
namespace {

using problem::Step;

class Serialized {
 public:
  Serialized(Walk& walk, Actions& actions, Stretch pass)
      : walk_(walk), actions_(actions), pass_(pass) {}

  void Run(int64_t tiles) {
    while (pass_.begin < pass_.end && LoadsResidents(pass_.begin))
      RunTransfers(pass_.begin++, -1, 0);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      for (Step step = pass_.begin; step < pass_.end;) step = RunTurn(step, tile);
    }
  }

 private:
  const StepUse& At(Step step) const { return walk_.At(step); }

  // One step, or the loop over slices that begins here; gives the step behind.
  Step RunTurn(Step step, int64_t tile) {
    if (At(step).kind == StepKind::kCopy) {
      walk_.Enter(step, tile);
      CopyRows(walk_, actions_, step, pass_, tile, At(step).phase);
      return step + 1;
    }
    Step compute = step;
    while (compute < pass_.end && At(compute).kind == StepKind::kLoad && LoadsSlice(compute))
      ++compute;
    if (compute == pass_.end || At(compute).kind != StepKind::kCompute) {
      RunTransfers(step, tile, 0);
      return step + 1;
    }
    for (int64_t round = 0; round < actions_.RoundsOf(At(compute).op); ++round) {
      for (Step load = step; load < compute; ++load) RunTransfers(load, tile, round);
      walk_.Enter(compute, tile);
      walk_.Run(actions_.Run(At(compute).op, {tile, At(compute).phase, round}, compute));
    }
    return compute + 1;
  }

  bool LoadsResidents(Step step) const {
    const std::vector<int>& transfers = At(step).transfers;
    return At(step).kind == StepKind::kLoad && At(step).op < 0 &&
           std::all_of(transfers.begin(), transfers.end(),
                       [&](int tensor) { return actions_.IsResident(tensor); });
  }

  bool LoadsSlice(Step step) const {
    const StepUse& use = At(step);
    return use.op >= 0 && std::any_of(use.transfers.begin(), use.transfers.end(), [&](int tensor) {
             return actions_.IsStreamed(use.op, tensor);
           });
  }

  // A step that does nothing but move.
  void RunTransfers(Step step, int64_t tile, int64_t round) {
    walk_.Enter(step, tile);
    const StepUse& use = At(step);
    std::vector<int64_t> under_way;
    for (const int tensor : use.transfers) {
      if (actions_.IsResident(tensor)) {
        walk_.Start(actions_.LoadResident(tensor, {step}), under_way);
      } else if (use.op >= 0 && actions_.IsStreamed(use.op, tensor)) {
        walk_.Start(actions_.LoadSlice(use.op, tensor, {tile, use.phase, round}, {step}),
                    under_way);
      } else if (tile >= 0 && actions_.ComesIn(tensor)) {
        walk_.Start(actions_.LoadTile(tensor, tile, use.phase, {step}), under_way);
      } else if (tile >= 0 && actions_.GoesOut(tensor)) {
        walk_.Start(actions_.StoreTile(tensor, tile, use.phase, {step}), under_way);
      } else {
        walk_.Complain(step, tensor);
      }
    }
    walk_.Finish(under_way);
  }

  Walk& walk_;
  Actions& actions_;
  Stretch pass_;
};

}  // namespace

void CopyRows(Walk& walk, Actions& actions, Step step, Stretch pass, int64_t tile, int next_phase) {
  const StepUse& use = walk.At(step);
  bool computes_later = false;
  for (Step later = step + 1; later < pass.end; ++later) {
    const StepUse& other = walk.At(later);
    computes_later = computes_later || (other.kind == StepKind::kCompute && other.op == use.op);
  }
  if (!(computes_later ? actions.Restores(use.op) : actions.Saves(use.op))) {
    walk.Run(Complaint{fmt::format("step {} copies rows where none are kept", step)});
  }
  const Copy copy = computes_later ? actions.Restore(use.op, tile, use.phase, step)
                                   : actions.Save(use.op, tile, use.phase, next_phase, step);
  if (!copy.moves.empty()) walk.Run(copy);
}

void UnrollSerialized(Walk& walk, Actions& actions, Stretch steps, int64_t tiles) {
  Serialized(walk, actions, steps).Run(tiles);
}

}  // namespace tessera::plan::execute

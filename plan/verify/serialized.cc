// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>

#include "tessera/plan/verify/passes.h"

// There is one pass, which runs for every tile. The load of a slice and its operator run once for
// each slice:
//
//     load w | load x  restore  load w2  conv1  save ... store y |
//            |                  '-- slice loop               |
namespace tessera::plan::verify {
namespace {

using problem::Step;

class Serialized {
 public:
  Serialized(const SubgraphSteps& subgraph, int64_t tiles, PassVisitor& visitor)
      : subgraph_(subgraph), pass_(subgraph.own), tiles_(tiles), visitor_(visitor) {}

  void Run() {
    while (pass_.begin < pass_.end && LoadsResidents(pass_.begin)) Move(pass_.begin++, {});
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      for (Step step = pass_.begin; step < pass_.end;) step = RunFrom(step, tile);
    }
  }

 private:
  const StepUse& At(Step step) const { return subgraph_.At(step); }

  // Runs one step, or the loop over slices that begins at it. Returns the step after it.
  Step RunFrom(Step step, int64_t tile) {
    if (subgraph_.Copies(step)) {
      visitor_.Enter(step, tile);
      const int phase = At(step).phase;
      RunCopy(subgraph_, step, pass_, {tile, phase},
              tile + 1 < tiles_ ? std::optional(phase) : std::nullopt, visitor_);
      return step + 1;
    }
    Step compute = step;
    while (compute < pass_.end && At(compute).kind == StepKind::kLoad && LoadsSlice(compute))
      ++compute;
    if (compute == pass_.end || !subgraph_.Computes(compute)) {
      Move(step, {tile, At(step).phase});
      return step + 1;
    }
    const int op = At(compute).op;
    const int64_t rounds = visitor_.RoundsOf(op);
    for (int64_t round = 0; round < rounds; ++round) {
      for (Step load = step; load < compute; ++load)
        Move(load, {tile, At(load).phase, round, rounds});
      visitor_.Enter(compute, tile);
      visitor_.Compute(op, {tile, At(compute).phase, round, rounds}, compute);
    }
    return compute + 1;
  }

  bool LoadsResidents(Step step) const {
    const std::vector<int>& transfers = At(step).transfers;
    return At(step).kind == StepKind::kLoad && At(step).op < 0 &&
           std::all_of(transfers.begin(), transfers.end(),
                       [&](int tensor) { return subgraph_.IsResident(tensor); });
  }

  bool LoadsSlice(Step step) const {
    const StepUse& use = At(step);
    return use.op >= 0 && std::any_of(use.transfers.begin(), use.transfers.end(), [&](int tensor) {
             return subgraph_.here.IsStreamed(use.op, tensor);
           });
  }

  // Runs a step that only moves tensors.
  void Move(Step step, const RunIndex& run) {
    visitor_.Enter(step, run.tile);
    const StepUse& use = At(step);
    std::vector<int64_t> under_way;
    for (const int tensor : use.transfers) {
      Transfer transfer{Transfer::Kind::kResident, tensor, -1, run, {step}};
      if (subgraph_.IsResident(tensor)) {
        transfer.run = {};
      } else if (use.op >= 0 && subgraph_.here.IsStreamed(use.op, tensor)) {
        transfer.kind = Transfer::Kind::kSlice;
        transfer.op = use.op;
      } else if (run.tile >= 0 && subgraph_.Arrives(tensor)) {
        transfer.kind = Transfer::Kind::kLoad;
      } else if (run.tile >= 0 && subgraph_.Leaves(tensor)) {
        transfer.kind = Transfer::Kind::kStore;
      } else {
        RefuseTransfer(subgraph_, step, tensor, visitor_);
        continue;
      }
      under_way.push_back(visitor_.Begin(transfer));
    }
    for (const int64_t number : under_way) visitor_.End(number);
  }

  const SubgraphSteps& subgraph_;
  StepRange pass_;
  int64_t tiles_;
  PassVisitor& visitor_;
};

}  // namespace

void RunSerialized(const SubgraphSteps& subgraph, int64_t tiles, PassVisitor& visitor) {
  Serialized(subgraph, tiles, visitor).Run();
}

void RunCopy(const SubgraphSteps& subgraph, Step step, StepRange pass, const RunIndex& run,
             std::optional<int> next_phase, PassVisitor& visitor) {
  const int op = subgraph.At(step).op;
  bool computes_later = false;
  for (Step later = step + 1; later < pass.end; ++later)
    computes_later = computes_later || (subgraph.Computes(later) && subgraph.At(later).op == op);
  if (!(computes_later ? subgraph.here.Restores(op) : subgraph.here.Saves(op)))
    visitor.Refuse(fmt::format("step {} copies rows where none are kept", step));
  if (computes_later) {
    visitor.Restore(op, run, step);
  } else if (next_phase) {
    visitor.Save(op, run, *next_phase, step);
  }
}

void RefuseTransfer(const SubgraphSteps& subgraph, Step step, int tensor, PassVisitor& visitor) {
  const std::string& id = subgraph.network.tensors[static_cast<size_t>(tensor)].id;
  visitor.Refuse(fmt::format("step {} moves '{}', which it has nothing to do with", step, id));
}

}  // namespace tessera::plan::verify

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tessera/plan/verify/passes.h"

// While a tile is computed, the previous tile leaves and the next one arrives. There are min(N, 3)
// passes; from N = 4 on, two of them alternate:
//
//     P | C_0  C_1  C_2 | C_0  C_1  C_2 | .. | E           around C_k, rows are restored and saved
//
// Tile q arrives from the first to the last step of pass q - 1 that names it, and leaves during
// those of pass q + 1. The last tile leaves at E. If slices are streamed, an operator's step has
// rounds: while slice r is used in slot r mod 2, slice r + 1 arrives in the other slot. The first
// slice arrives from the step of the previous operator on, across the end of the pass if necessary:
//
//     pass q    ..  C_1  restore  C_2  save | restore  C_0           C_2 is the last operator
//                   '-----------' '-----------------'
//                   first of C_2    first of C_0, for the next tile
//
// A second stage runs a tile behind the first, so there is one slot more than tiles. What its
// operators use moves a slot later, and they may run at any step of their slot:
//
//     slot   0      1           2           3         three tiles
//            C_0.0  C_0.1 C_1.0 C_0.2 C_1.1       C_1.2
//
// Constants that are prefetched for later subgraphs arrive from the first pass to the last, and at
// E, if their steps name them. If several of these subgraphs use a constant, it arrives once for
// each. Slices may arrive ahead too, each in its slot; then the later ones follow in the rounds:
//
//     round      0      1      2      3           two slices ahead, three slots
//     uses       0      1      2      3
//     arrives    2      3      4      5
namespace tessera::plan::verify {
namespace {

using problem::Step;
using Steps = std::vector<Step>;

class DoubleBuffered {
 public:
  DoubleBuffered(const SubgraphSteps& subgraph, int64_t tiles, PassVisitor& visitor)
      : subgraph_(subgraph),
        tiles_(tiles),
        slots_(tiles + (subgraph.here.Current().second_stage > 0 ? 1 : 0)),
        visitor_(visitor) {
    const StepRange own = subgraph.own;
    Step first = own.begin;
    while (first < own.end && At(first).kind == StepKind::kPrologue) ++first;
    Step last = first;
    while (last < own.end && (subgraph.Computes(last) || subgraph.Copies(last))) ++last;
    prologue_ = {own.begin, first};
    epilogue_ = {last, own.end};
    SplitIntoPasses({first, last});
  }

  void Run() {
    if (!TakesAhead()) PlanFirstSlicesOfPass(StepsOf(prologue_), 0, 0);
    for (Step step = prologue_.begin; step < prologue_.end; ++step) RunPrologue(step);
    for (int64_t slot = 0; slot < slots_; ++slot) RunPass(slot);
    for (Step step = epilogue_.begin; step < epilogue_.end; ++step) RunEpilogue(step);
  }

 private:
  // A transfer that has not ended. It has a number if it has begun.
  struct Planned {
    Transfer transfer;
    std::optional<int64_t> number;
  };

  const StepUse& At(Step step) const { return subgraph_.At(step); }
  const StepRange& PassOf(int64_t slot) const {
    return passes_[static_cast<size_t>(slot) % passes_.size()];
  }
  bool TakesAhead() const { return TakesSlicesAhead(subgraph_.here.Current()); }
  int LastPhase() const { return static_cast<int>((tiles_ - 1) % 2); }

  static Steps StepsOf(StepRange range) {
    Steps steps;
    for (Step step = range.begin; step < range.end; ++step) steps.push_back(step);
    return steps;
  }

  // All passes have the same number of compute steps. A copy step between two passes belongs to the
  // pass of its phase.
  void SplitIntoPasses(StepRange all) {
    const int64_t passes = slots_ <= 3 ? slots_ : 2;
    int64_t operators = 0;
    for (Step step = all.begin; step < all.end; ++step)
      operators += subgraph_.Computes(step) ? 1 : 0;
    Step step = all.begin;
    for (int64_t i = 0; i < passes; ++i) {
      const Step begin = step;
      for (int64_t left = operators / passes; step < all.end && left > 0; ++step)
        left -= subgraph_.Computes(step) ? 1 : 0;
      const auto is_own = [&] { return i + 1 == passes || At(step).phase == At(begin).phase; };
      while (step < all.end && subgraph_.Copies(step) && is_own()) ++step;
      passes_.push_back({begin, step});
    }
  }

  void RunPrologue(Step step) {
    visitor_.Enter(step, -1);
    for (const int tensor : At(step).transfers) {
      if (subgraph_.IsResident(tensor)) {
        Plan({Transfer::Kind::kResident, tensor, -1, {}, {step}});
      } else if (subgraph_.Arrives(tensor) && subgraph_.here.LagOf(tensor) == 0) {
        Plan({Transfer::Kind::kLoad, tensor, -1, {0, 0}, {step}});
      } else if (subgraph_.HasSlices(subgraph_.here, tensor)) {
        PlanSlicesAhead(subgraph_.here, {Transfer::Kind::kSlice, tensor, -1, {0, 0}, {step}});
      } else if (TakesAhead() || !subgraph_.here.IsStreamed(FirstOperator(), tensor)) {
        RefuseTransfer(subgraph_, step, tensor, visitor_);
      }
    }
    BeginTransfers(step);
    EndTransfers(step);
  }

  void RunEpilogue(Step step) {
    visitor_.Enter(step, tiles_ - 1);
    for (const int tensor : At(step).transfers) {
      if (subgraph_.Leaves(tensor) && subgraph_.here.LagOf(tensor) + tiles_ == slots_) {
        Plan({Transfer::Kind::kStore, tensor, -1, {tiles_ - 1, LastPhase()}, {step}});
      } else if (!subgraph_.IsPrefetched(tensor)) {
        RefuseTransfer(subgraph_, step, tensor, visitor_);
      }
    }
    BeginTransfers(step);
    EndTransfers(step);
  }

  void RunPass(int64_t slot) {
    const StepRange pass = PassOf(slot);
    PlanNeighbours(pass, slot);
    if (slot == 0) PlanPrefetches();
    is_last_slot_ = slot + 1 == slots_;
    for (Step step = pass.begin; step < pass.end; ++step) {
      const int64_t tile = slot - LagOf(step);
      visitor_.Enter(step, std::clamp<int64_t>(tile, 0, tiles_ - 1));
      RunAlongside(pass, slot);
      if (subgraph_.Computes(step) && !TakesAhead()) PlanFirstSlicesAfter(step, pass, tile);
      for (const int tensor : At(step).transfers) {
        if (subgraph_.IsResident(tensor) && !subgraph_.IsPrefetched(tensor))
          Plan({Transfer::Kind::kResident, tensor, -1, {}, {step}});
      }
      BeginTransfers(step);
      if (subgraph_.Computes(step) && IsTile(tile)) RunRounds(step, tile);
      if (subgraph_.Copies(step)) {
        const int phase = At(step).phase;
        RunCopy(subgraph_, step, pass, {tile, phase},
                tile + 1 < tiles_ ? std::optional(1 - phase) : std::nullopt, visitor_);
      }
      EndTransfers(step);
    }
  }

  bool IsTile(int64_t tile) const { return 0 <= tile && tile < tiles_; }

  // The tiles by which the operator of the step runs behind the first stage.
  int64_t LagOf(Step step) const {
    return subgraph_.Computes(step) && subgraph_.here.IsLate(At(step).op) ? 1 : 0;
  }

  // Lets the operators of the second stage use their operands at every step of the slot.
  void RunAlongside(StepRange pass, int64_t slot) {
    for (Step step = pass.begin; step < pass.end; ++step) {
      if (LagOf(step) > 0 && IsTile(slot - 1))
        visitor_.MayCompute(At(step).op, {slot - 1, At(step).phase});
    }
  }

  int FirstOperator() const { return subgraph_.here.Current().interval.first; }

  void Plan(Transfer transfer) { planned_.push_back({std::move(transfer), std::nullopt}); }

  void BeginTransfers(Step step) {
    for (Planned& planned : planned_) {
      if (!planned.number && planned.transfer.steps.front() == step)
        planned.number = visitor_.Begin(planned.transfer);
    }
  }

  void EndTransfers(Step step) {
    const auto ends = [&](const Planned& planned) {
      return planned.transfer.kind == Transfer::Kind::kPrefetch
                 ? is_last_slot_ && step == LastStepOf(planned.transfer)
                 : planned.transfer.steps.back() == step;
    };
    for (const Planned& planned : planned_) {
      if (ends(planned) && planned.number) visitor_.End(*planned.number);
    }
    std::erase_if(planned_, ends);
  }

  // Plans the transfers of the neighbouring tiles during the pass.
  void PlanNeighbours(StepRange pass, int64_t slot) {
    const auto moves = [&](int tensor) {
      return subgraph_.Arrives(tensor) || subgraph_.Leaves(tensor);
    };
    for (auto& [tensor, span] : Spans(StepsOf(pass), moves)) {
      const int64_t lag = subgraph_.here.LagOf(tensor);
      const int other = lag == 0 ? 1 - At(span.front()).phase : At(span.front()).phase;
      if (subgraph_.Arrives(tensor) && IsTile(slot + 1 - lag)) {
        Plan({Transfer::Kind::kLoad, tensor, -1, {slot + 1 - lag, other}, std::move(span)});
      } else if (subgraph_.Leaves(tensor) && IsTile(slot - 1 - lag)) {
        Plan({Transfer::Kind::kStore, tensor, -1, {slot - 1 - lag, other}, std::move(span)});
      }
    }
  }

  // The step at which a prefetch ends, once the last slot has begun: at E, or in the last pass.
  Step LastStepOf(const Transfer& prefetch) const {
    const Step last = prefetch.steps.back();
    return std::min(last, last < epilogue_.begin ? PassOf(slots_ - 1).end - 1 : last);
  }

  // Plans the prefetches from the first pass on.
  void PlanPrefetches() {
    Steps steps = StepsOf({passes_.front().begin, epilogue_.end});
    for (size_t i = 0; i < subgraph_.carried.size(); ++i) {
      const SubgraphResidency& later = subgraph_.carried[i];
      const auto is_prefetched = [&](int tensor) {
        return subgraph_.HasShare(later, tensor) || subgraph_.HasSlices(later, tensor);
      };
      for (auto& [constant, span] : Spans(steps, is_prefetched)) {
        Transfer transfer = {Transfer::Kind::kPrefetch, constant, -1, {0, 0}, std::move(span), i};
        if (subgraph_.HasShare(later, constant)) {
          Plan(std::move(transfer));
        } else {
          PlanSlicesAhead(later, transfer);
        }
      }
    }
  }

  // Plans transfers like this one for the slices of its constant that arrive ahead for `user`.
  void PlanSlicesAhead(const SubgraphResidency& user, const Transfer& like) {
    const int ahead = user.Index() - subgraph_.here.Index();
    for (int op = user.Current().interval.first; op <= user.Current().interval.last; ++op) {
      for (const int64_t slice : user.SlicesAheadOf(op, like.tensor, ahead)) {
        Transfer transfer = like;
        transfer.op = op;
        transfer.run = {like.run.tile, like.run.phase, slice, slice + 1, static_cast<int>(slice)};
        transfer.ahead = ahead;
        Plan(std::move(transfer));
      }
    }
  }

  // Plans the first slices of the next operator, in this or the next pass. They arrive from this
  // step up to that of the next operator.
  void PlanFirstSlicesAfter(Step step, StepRange pass, int64_t tile) {
    Step next = step + 1;
    while (next < pass.end && !subgraph_.Computes(next)) ++next;
    if (next < pass.end) {
      PlanFirstSlices(StepsOf({step, next}), At(next).op, tile, At(step).phase);
    } else if (tile + 1 < tiles_) {
      PlanFirstSlicesOfPass(StepsOf({step, next}), tile + 1, 1 - At(step).phase);
    }
  }

  // Plans the first slices of the first operator of a later tile. They arrive during `steps` and up
  // to the step of that operator.
  void PlanFirstSlicesOfPass(Steps steps, int64_t tile, int phase) {
    const StepRange pass = PassOf(tile);
    for (Step step = pass.begin; step < pass.end && !subgraph_.Computes(step); ++step)
      steps.push_back(step);
    PlanFirstSlices(steps, FirstOperator(), tile, phase);
  }

  void PlanFirstSlices(const Steps& steps, int op, int64_t tile, int phase) {
    const auto streams = [&](int tensor) { return subgraph_.here.IsStreamed(op, tensor); };
    for (auto& [constant, span] : Spans(steps, streams)) {
      const RunIndex run = {tile, phase, 0, visitor_.RoundsOf(op)};
      Plan({Transfer::Kind::kSlice, constant, op, run, std::move(span)});
    }
  }

  // For each tensor that satisfies the predicate, the steps from the first to the last that names
  // it.
  template <typename Predicate>
  std::map<int, Steps> Spans(const Steps& steps, const Predicate& is_of_kind) const {
    std::map<int, StepRange> named;  // of `steps`
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto at = static_cast<Step>(i);
      for (const int tensor : At(steps[i]).transfers) {
        if (is_of_kind(tensor))
          named.try_emplace(tensor, StepRange{at, at}).first->second.end = at + 1;
      }
    }
    std::map<int, Steps> spans;
    for (const auto& [tensor, span] : named)
      spans[tensor].assign(steps.begin() + span.begin, steps.begin() + span.end);
    return spans;
  }

  void RunRounds(Step step, int64_t tile) {
    const StepUse& use = At(step);
    const int64_t rounds = visitor_.RoundsOf(use.op);
    const int64_t lead = subgraph_.here.Lead();
    const auto run_of = [&](int64_t round) {
      return RunIndex{tile, use.phase, round, rounds, static_cast<int>(round % (lead + 1))};
    };
    for (int64_t round = 0; round < rounds; ++round) {
      std::vector<int64_t> under_way;
      for (const int tensor : use.transfers) {
        if (round + lead >= rounds || !subgraph_.here.IsStreamed(use.op, tensor)) continue;
        under_way.push_back(
            visitor_.Begin({Transfer::Kind::kSlice, tensor, use.op, run_of(round + lead), {step}}));
      }
      visitor_.Compute(use.op, run_of(round), step);
      for (const int64_t number : under_way) visitor_.End(number);
    }
  }

  const SubgraphSteps& subgraph_;
  int64_t tiles_;
  int64_t slots_;  // tiles, and one more with two stages
  PassVisitor& visitor_;
  StepRange prologue_;
  StepRange epilogue_;
  bool is_last_slot_ = false;
  std::vector<StepRange> passes_;
  std::vector<Planned> planned_;  // in the order in which they begin, where they begin together
};

}  // namespace

void RunDoubleBuffered(const SubgraphSteps& subgraph, int64_t tiles, PassVisitor& visitor) {
  DoubleBuffered(subgraph, tiles, visitor).Run();
}

}  // namespace tessera::plan::verify

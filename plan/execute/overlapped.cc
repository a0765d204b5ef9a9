#include <algorithm>
#include <map>
#include <utility>

#include "tessera/plan/execute/passes.h"

// While a tile is under work, the one before leaves and the one after arrives; min(N, 3) passes,
// two in turn from N = 4 on:
//
//     P | C_0  C_1  C_2 | C_0  C_1  C_2 | .. | E           around C_k, rows are restored and saved
//
// Each step moves what the plan says. Tile q arrives at the steps of pass q - 1 that name it, from
// the first to the last of these, and leaves at those of pass q + 1; at E the last one leaves.
// Where slices stream, an operator's step has rounds: while slice r is used in slot r mod 2, slice
// r + 1 arrives in the other. The first arrives from whatever computes before on, beyond the end of
// the pass if need be:
//
//     pass q    ..  C_1  restore  C_2  save | restore  C_0           C_2 is the last operator
//                   '-----------' '-----------------'
//                   first of C_2    first of C_0, for the next tile
//
// Constants that are prefetched for the next subgraph arrive at the steps of the last pass, and at
// E, that name them.
namespace tessera::plan::execute {
namespace {

using problem::Step;

class DoubleBuffered {
 public:
  DoubleBuffered(Walk& walk, Actions& actions, Stretch steps, int64_t tiles)
      : walk_(walk), actions_(actions), tiles_(tiles) {
    Step first = steps.begin;
    while (first < steps.end && At(first).kind == StepKind::kPrologue) ++first;
    Step last = first;
    while (last < steps.end && (Computes(last) || Copies(last))) ++last;
    prologue_ = {steps.begin, first};
    epilogue_ = {last, steps.end};
    SplitIntoPasses({first, last});
  }

  void Run() {
    FetchForFirst(StepsOf(prologue_), PassOf(0), 0, 0);
    for (Step step = prologue_.begin; step < prologue_.end; ++step) RunPrologue(step);
    for (int64_t tile = 0; tile < tiles_; ++tile) RunPass(tile);
    for (Step step = epilogue_.begin; step < epilogue_.end; ++step) RunEpilogue(step);
  }

 private:
  // The first slice of a constant, on its way to the operator that computes next; without one, a
  // constant on its way to the next subgraph.
  struct Fetch {
    int op = -1;
    int constant = 0;
    int64_t tile = 0;
    int phase = 0;
    Steps steps;
    std::vector<int64_t> under_way;
  };

  const StepUse& At(Step step) const { return walk_.At(step); }
  bool Computes(Step step) const { return At(step).kind == StepKind::kCompute; }
  bool Copies(Step step) const { return At(step).kind == StepKind::kCopy; }
  bool Names(Step step, int tensor) const {
    const std::vector<int>& transfers = At(step).transfers;
    return std::find(transfers.begin(), transfers.end(), tensor) != transfers.end();
  }
  const Stretch& PassOf(int64_t tile) const {
    return passes_[static_cast<size_t>(tile) % passes_.size()];
  }

  int LastPhase() const { return static_cast<int>((tiles_ - 1) % 2); }

  static Steps StepsOf(Stretch stretch) {
    Steps steps;
    for (Step step = stretch.begin; step < stretch.end; ++step) steps.push_back(step);
    return steps;
  }

  // Every pass computes as often. What is copied in between belongs to the pass whose phase it has.
  void SplitIntoPasses(Stretch all) {
    const int64_t passes = tiles_ <= 3 ? tiles_ : 2;
    int64_t operators = 0;
    for (Step step = all.begin; step < all.end; ++step) operators += Computes(step) ? 1 : 0;
    Step step = all.begin;
    for (int64_t i = 0; i < passes; ++i) {
      const Step begin = step;
      for (int64_t left = operators / passes; step < all.end && left > 0; ++step)
        left -= Computes(step) ? 1 : 0;
      const auto is_own = [&] { return i + 1 == passes || At(step).phase == At(begin).phase; };
      while (step < all.end && Copies(step) && is_own()) ++step;
      passes_.push_back({begin, step});
    }
  }

  void RunPrologue(Step step) {
    walk_.Enter(step, -1);
    std::vector<int64_t> under_way;
    StartFetches(step);
    for (const int tensor : At(step).transfers) {
      if (actions_.IsResident(tensor)) {
        walk_.Start(actions_.LoadResident(tensor, {step}), under_way);
      } else if (actions_.ComesIn(tensor)) {
        walk_.Start(actions_.LoadTile(tensor, 0, 0, {step}), under_way);
      } else if (!actions_.IsStreamed(actions_.Of().interval.first, tensor)) {
        walk_.Complain(step, tensor);
      }
    }
    FinishFetches(step);
    walk_.Finish(under_way);
  }

  void RunEpilogue(Step step) {
    walk_.Enter(step, tiles_ - 1);
    std::vector<int64_t> under_way;
    StartFetches(step);
    for (const int tensor : At(step).transfers) {
      if (actions_.GoesOut(tensor)) {
        walk_.Start(actions_.StoreTile(tensor, tiles_ - 1, LastPhase(), {step}), under_way);
      } else if (!actions_.IsPrefetched(tensor)) {
        walk_.Complain(step, tensor);
      }
    }
    FinishFetches(step);
    walk_.Finish(under_way);
  }

  // The steps of a pass at which a tensor's neighbouring tiles move.
  std::map<int, Steps> NeighboursMove(Stretch pass) const {
    std::map<int, Stretch> spans;
    for (Step step = pass.begin; step < pass.end; ++step) {
      for (const int tensor : At(step).transfers) {
        if (!actions_.ComesIn(tensor) && !actions_.GoesOut(tensor)) continue;
        spans.try_emplace(tensor, Stretch{step, step}).first->second.end = step + 1;
      }
    }
    std::map<int, Steps> moves;
    for (const auto& [tensor, span] : spans) moves[tensor] = StepsOf(span);
    return moves;
  }

  void RunPass(int64_t tile) {
    const Stretch pass = PassOf(tile);
    if (tile + 1 == tiles_) PlanPrefetches(pass);
    const std::map<int, Steps> moves = NeighboursMove(pass);
    std::map<int, std::vector<int64_t>> neighbours;  // under way, by tensor
    for (Step step = pass.begin; step < pass.end; ++step) {
      walk_.Enter(step, tile);
      const int other = 1 - At(step).phase;
      for (const auto& [tensor, steps] : moves) {
        if (steps.front() != step) continue;
        if (actions_.ComesIn(tensor) && tile + 1 < tiles_) {
          walk_.Start(actions_.LoadTile(tensor, tile + 1, other, steps), neighbours[tensor]);
        } else if (actions_.GoesOut(tensor) && tile > 0) {
          walk_.Start(actions_.StoreTile(tensor, tile - 1, other, steps), neighbours[tensor]);
        }
      }
      if (Computes(step)) FetchForNext(step, pass, tile);
      StartFetches(step);
      std::vector<int64_t> under_way;
      for (const int tensor : At(step).transfers) {
        if (actions_.IsResident(tensor) && !actions_.IsPrefetched(tensor))
          walk_.Start(actions_.LoadResident(tensor, {step}), under_way);
      }
      if (Computes(step)) RunRounds(step, tile);
      if (Copies(step)) CopyRows(walk_, actions_, step, pass, tile, other);
      FinishFetches(step);
      walk_.Finish(under_way);
      for (const auto& [tensor, steps] : moves) {
        if (steps.back() == step) walk_.Finish(neighbours[tensor]);
      }
    }
  }

  // From the step of an operator to that of the next, in this pass or the one after.
  void FetchForNext(Step step, Stretch pass, int64_t tile) {
    Step next = step + 1;
    while (next < pass.end && !Computes(next)) ++next;
    const Steps between = StepsOf({step, next});
    if (next < pass.end) {
      PlanFetches(between, At(next).op, tile, At(step).phase);
    } else if (tile + 1 < tiles_) {
      FetchForFirst(between, PassOf(tile + 1), tile + 1, 1 - At(step).phase);
    }
  }

  // Up to the first operator of a pass that is to come.
  void FetchForFirst(Steps steps, Stretch pass, int64_t tile, int phase) {
    for (Step step = pass.begin; step < pass.end && !Computes(step); ++step) steps.push_back(step);
    PlanFetches(steps, actions_.Of().interval.first, tile, phase);
  }

  void PlanFetches(const Steps& steps, int op, int64_t tile, int phase) {
    for (const auto& [constant, span] :
         Spans(steps, [&](int tensor) { return actions_.IsStreamed(op, tensor); }))
      fetches_.push_back({op, constant, tile, phase, span, {}});
  }

  // From the last pass on.
  void PlanPrefetches(Stretch pass) {
    Steps steps = StepsOf(pass);
    for (const int64_t step : StepsOf(epilogue_)) steps.push_back(step);
    for (const auto& [constant, span] :
         Spans(steps, [&](int tensor) { return actions_.IsPrefetched(tensor); }))
      fetches_.push_back({-1, constant, tiles_ - 1, LastPhase(), span, {}});
  }

  // For each tensor of that kind the steps from the first that names it to the last.
  template <typename Predicate>
  std::map<int, Steps> Spans(const Steps& steps, Predicate is_of_kind) const {
    std::map<int, Steps> named;
    for (auto first = steps.begin(); first != steps.end(); ++first) {
      for (const int tensor : At(*first).transfers) {
        if (!is_of_kind(tensor) || named.contains(tensor)) continue;
        auto last = steps.end();
        while (!Names(*(last - 1), tensor)) --last;
        named[tensor].assign(first, last);
      }
    }
    return named;
  }

  void StartFetches(Step step) {
    for (Fetch& fetch : fetches_) {
      if (fetch.steps.front() != step) continue;
      walk_.Start(fetch.op < 0
                      ? actions_.Prefetch(fetch.constant, fetch.tile, fetch.phase, fetch.steps)
                      : actions_.LoadSlice(fetch.op, fetch.constant, {fetch.tile, fetch.phase},
                                           fetch.steps),
                  fetch.under_way);
    }
  }

  void FinishFetches(Step step) {
    for (Fetch& fetch : fetches_) {
      if (fetch.steps.back() == step) walk_.Finish(fetch.under_way);
    }
    std::erase_if(fetches_, [step](const Fetch& fetch) { return fetch.steps.back() == step; });
  }

  void RunRounds(Step step, int64_t tile) {
    const StepUse& use = At(step);
    const int64_t rounds = actions_.RoundsOf(use.op);
    for (int64_t round = 0; round < rounds; ++round) {
      std::vector<int64_t> under_way;
      for (const int tensor : use.transfers) {
        if (round + 1 == rounds || !actions_.IsStreamed(use.op, tensor)) continue;
        const auto slot = static_cast<int>((round + 1) % 2);
        const RunIndex turn = {tile, use.phase, round + 1, rounds, slot};
        walk_.Start(actions_.LoadSlice(use.op, tensor, turn, {step}), under_way);
      }
      walk_.Run(actions_.Run(use.op, {tile, use.phase, round, rounds, static_cast<int>(round % 2)},
                             step));
      walk_.Finish(under_way);
    }
  }

  Walk& walk_;
  Actions& actions_;
  int64_t tiles_;
  Stretch prologue_;
  Stretch epilogue_;
  std::vector<Stretch> passes_;
  std::vector<Fetch> fetches_;
};

}  // namespace

void UnrollDoubleBuffered(Walk& walk, Actions& actions, Stretch steps, int64_t tiles) {
  DoubleBuffered(walk, actions, steps, tiles).Run();
}

}  // namespace tessera::plan::execute

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/solver.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::engines::lazy {
namespace {

constexpr int64_t kNodesPerLook = 64;  // between two polls of the stop
}  // namespace

Solver::Solver(const Packing& packing, const LazyOptions& options, PackingQuery query,
               ProofLog* proof, const base::Stop* stop)
    : packing_(packing),
      options_(options),
      proof_(proof),
      propagation_(packing, options_, query, proof == nullptr, stop),
      trail_(propagation_.trail()),
      clauses_(propagation_.clauses()),
      decisions_(propagation_.axis(), options.seed),
      analysis_(trail_, clauses_, options.minimize_clauses),
      queries_{{std::move(query), false}} {
  decisions_.FollowHints(options.follow_hints);
  next_restart_ = options.restart_base * base::Luby(1);
  if (proof_ != nullptr) analysis_.KeepDerivations();
  if (stop == nullptr || !stop->Requested()) Reset();
}

Solver::SolveOutcome Solver::Solve(std::span<const BoundLiteral> assumptions,
                                   const base::Budget& budget, const base::Stop& stop) {
  if (budget.units <= 0 || (!ready_ && stop.Requested())) return SolveOutcome::kUnknown;
  if (!ready_) Reset();
  BacktrackTo(0);
  const int64_t most = statistics_.conflicts + std::min(budget.units, base::kMaxTotal);
  SolveOutcome verdict = SolveOutcome::kUnknown;
  gave_up_ = false;
  while (!queries_.back().contradicted) {
    const Propagation::Fixpoint fixpoint = Propagate(stop);
    if (fixpoint == Propagation::Fixpoint::kInterrupted) return SolveOutcome::kUnknown;
    const bool consistent = fixpoint == Propagation::Fixpoint::kReached;
    const bool look = !consistent || statistics_.nodes % kNodesPerLook == 0;
    if (!consistent && !LearnFromConflict()) break;
    if (look && stop.Requested()) return SolveOutcome::kUnknown;
    if (!consistent) {
      if (statistics_.conflicts >= most) return SolveOutcome::kUnknown;
    } else if (options_.restart_base > 0 && statistics_.conflicts >= next_restart_) {
      Restart();
    } else if (!Extend(assumptions, verdict)) {
      return verdict;
    }
  }
  queries_.back().contradicted = true;
  return SolveOutcome::kInfeasible;
}

Propagation::Fixpoint Solver::Propagate(const base::Stop& stop) {
  const Propagation::Fixpoint fixpoint = propagation_.Run(stop);
  if (fixpoint != Propagation::Fixpoint::kInterrupted) return fixpoint;
  gave_up_ = !stop.Requested();
  if (!gave_up_) return fixpoint;  // the next call backtracks
  // Bounds raised at the root stay, so bounds that rise without end are reset.
  BacktrackTo(0);
  Reset();
  return fixpoint;
}

bool Solver::LearnFromConflict() {
  ++statistics_.conflicts;
  const int level = analysis_.LevelOf(trail_.Conflict());
  if (level == 0) {
    if (proof_ != nullptr) proof_->NoteRefutation(trail_, clauses_);
    return false;
  }
  BacktrackTo(level);
  const Lesson& lesson = analysis_.Learn(trail_.Conflict());
  const int32_t proof = proof_ != nullptr ? proof_->NoteLesson(lesson, trail_, clauses_) : -1;
  BacktrackTo(lesson.level);
  for (const int integer : lesson.involved) decisions_.Bump(integer);
  decisions_.Decay();
  ++statistics_.backtracks;
  const int query = static_cast<int>(queries_.size()) - 1;
  if (lesson.clause.size() == 1) {
    units_.push_back({lesson.clause[0], query});
    trail_.Push(lesson.clause[0], {});
  } else {
    const int clause = clauses_.Add(lesson.clause, lesson.glue, query);
    clauses_.SetProof(clause, proof);
    trail_.Push(lesson.clause[0], {Reason::Kind::kClause, clause, 0});
  }
  return true;
}

void Solver::Restart() {
  BacktrackTo(0);
  decisions_.FollowHints(false);
  if (options_.orders_every > 0) ChangeMood();
  next_restart_ = statistics_.conflicts + options_.restart_base * base::Luby(++restarts_ + 1);
  if (!options_.reduce_clauses || statistics_.conflicts < next_reduction_) return;
  if (proof_ != nullptr) proof_->NoteRoot(trail_, clauses_);
  reduction_interval_ += kReductionGrowth;
  next_reduction_ = statistics_.conflicts + reduction_interval_;
  if (!clauses_.Reduce()) queries_.back().contradicted = true;
}

void Solver::ChangeMood() {
  const bool orders = restarts_ % options_.orders_every == options_.orders_every - 1;
  decisions_.SetMood(orders ? Decisions::Mood::kOrders : Decisions::Mood::kFloors);
  propagation_.WeighSections(orders);
}

// Makes the next assumption or decision. Returns false if there is none, and sets `verdict`.
bool Solver::Extend(std::span<const BoundLiteral> assumptions, SolveOutcome& verdict) {
  ++statistics_.nodes;
  const auto level = static_cast<size_t>(trail_.Level());
  if (level >= assumptions.size()) {
    if (decisions_.Decide()) return true;
    KeepSolution();
    verdict = SolveOutcome::kFeasible;
    return false;
  }
  const BoundLiteral assumption = trail_.Rounded(assumptions[level]);
  if (trail_.IsFalse(assumption)) {
    verdict = SolveOutcome::kInfeasible;
    return false;
  }
  trail_.OpenLevel();
  if (!trail_.IsTrue(assumption)) trail_.Push(assumption, {Reason::Kind::kDecision, 0, 0});
  return true;
}

void Solver::KeepSolution() {
  solution_.resize(static_cast<size_t>(packing_.buffers));
  for (int i = 0; i < packing_.buffers; ++i) solution_[static_cast<size_t>(i)] = trail_[2 * i];
}

void Solver::BacktrackTo(int level) {
  if (level >= trail_.Level()) return;
  for (int at = trail_.LevelStart(level + 1); at < trail_.Size(); ++at) {
    const View view = trail_.At(at).view;
    if (propagation_.IsOrder(view)) decisions_.Reopen(view);
  }
  propagation_.BacktrackTo(level);
}

Bound Solver::LeastAtRoot(View view) {
  BacktrackTo(0);
  return trail_[view];
}

}  // namespace tessera::search::engines::lazy

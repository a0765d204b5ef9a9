#include "tessera/search/engines/lazy/solver.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::engines::lazy {
namespace {

constexpr int64_t kNodesPerLook = 64;  // between two polls of the stop
constexpr int64_t kChangesPerLook = 4096;
constexpr int64_t kNeighboursPerLook = 1 << 18;  // of buffers that changed
constexpr int64_t kRulesPerLook = 64;
constexpr int64_t kChangesPerView = 16;  // in a row, before the search for a cycle
constexpr int kMostChanges = 4'000'000;  // on the trail: about 250 MB

// Every integer with bounds that suffice for any query; SetFirstBounds narrows them.
Trail MakeTrail(const Packing& packing) {
  Trail trail;
  trail.Reserve(static_cast<size_t>(packing.buffers + packing.memories) + packing.pairs.size());
  for (int i = 0; i < packing.buffers; ++i)
    trail.AddInteger(0, 0, packing.alignment[static_cast<size_t>(i)]);
  for (int m = 0; m < packing.memories; ++m) trail.AddInteger(0, 0, 1);
  for (size_t pair = 0; pair < packing.pairs.size(); ++pair) trail.AddBoolean();
  return trail;
}

}  // namespace

Solver::Solver(const Packing& packing, const LazyOptions& options, PackingQuery query,
               ProofLog* proof, const base::Stop* stop)
    : packing_(packing),
      options_(options),
      proof_(proof),
      trail_(MakeTrail(packing)),
      axis_(packing, trail_, query.sizes),
      clauses_(trail_),
      orders_(packing),
      pairs_(axis_),
      edges_(axis_, orders_),
      section_pair_cuts_(axis_, options.section_pair_cuts, stop),
      energy_(axis_, options.energy_slack_percent),
      bottom_left_(axis_),
      rests_(options.bottom_left && packing.differences.empty()),
      decisions_(axis_, options.seed),
      analysis_(trail_, clauses_, decisions_, options.minimize_clauses),
      queries_{{std::move(query), false}} {
  decisions_.FollowHints(options.follow_hints);
  next_restart_ = options.restart_base * base::Luby(1);
  if (proof_ != nullptr) analysis_.KeepDerivations();
  if (stop == nullptr || !stop->Requested()) Reset();
}

Solver::Verdict Solver::Solve(std::span<const BoundLiteral> assumptions, const base::Budget& budget,
                              const base::Stop& stop) {
  if (budget.units <= 0 || (!ready_ && stop.Requested())) return Verdict::kUnknown;
  if (!ready_) Reset();
  BacktrackTo(0);
  const int64_t most = statistics_.conflicts + std::min(budget.units, base::kMaxTotal);
  Verdict verdict = Verdict::kUnknown;
  gave_up_ = false;
  while (!queries_.back().contradicted) {
    const Fixpoint fixpoint = Propagate(stop);
    if (fixpoint == Fixpoint::kInterrupted) return Verdict::kUnknown;
    const bool consistent = fixpoint == Fixpoint::kReached;
    const bool look = !consistent || statistics_.nodes % kNodesPerLook == 0;
    if (!consistent && !LearnFromConflict()) break;
    if (look && stop.Requested()) return Verdict::kUnknown;
    if (!consistent) {
      if (statistics_.conflicts >= most) return Verdict::kUnknown;
    } else if (options_.restart_base > 0 && statistics_.conflicts >= next_restart_) {
      Restart();
    } else if (!Extend(assumptions, verdict)) {
      return verdict;
    }
  }
  queries_.back().contradicted = true;
  return Verdict::kInfeasible;
}

Solver::Fixpoint Solver::Propagate(const base::Stop& stop) {
  bool interrupted = false;
  bool consistent = true;
  bool idle = false;
  int64_t rules = 0;
  while (consistent && !interrupted && !idle) {
    consistent = FollowChanges(stop, interrupted);
    if (!consistent || interrupted) break;
    if (++rules % kRulesPerLook == 0 && stop.Requested()) {
      interrupted = true;
      break;
    }
    idle = section_pair_cuts_.Idle() && energy_.Idle() && edges_.Idle() && bottom_left_.Idle();
    consistent = idle || PropagateRules();
  }
  if (!interrupted) return consistent ? Fixpoint::kReached : Fixpoint::kConflict;
  gave_up_ = !stop.Requested();
  if (!gave_up_) return Fixpoint::kInterrupted;  // the next call backtracks
  // Bounds raised at the root stay, so bounds that rise without end are reset.
  BacktrackTo(0);
  Reset();
  return Fixpoint::kInterrupted;
}

// Runs the first rule that has pending work.
bool Solver::PropagateRules() {
  if (!section_pair_cuts_.Idle()) return section_pair_cuts_.PropagateOne();
  if (!energy_.Idle()) return energy_.PropagateOne();
  if (!edges_.Idle()) return edges_.PropagateOne();
  return bottom_left_.PropagateOne();
}

// Dispatches changes until there are none. False on a conflict.
bool Solver::FollowChanges(const base::Stop& stop, bool& interrupted) {
  const int start = processed_;
  const auto pairs = static_cast<int64_t>(packing_.pairs.size());
  const int64_t neighbours = 2 * pairs / std::max(1, packing_.buffers) + 1;
  const int64_t changes_per_look =
      std::clamp<int64_t>(kNeighboursPerLook / neighbours, 64, kChangesPerLook);
  int64_t next_look = changes_per_look;
  int64_t next_search = kChangesPerView * trail_.Views();
  while (processed_ < trail_.Size()) {
    const int64_t followed = processed_ - start;
    if (followed >= next_look) {
      next_look += changes_per_look;
      interrupted = stop.Requested() || trail_.Size() >= kMostChanges;
      if (interrupted) return true;
    }
    if (proof_ == nullptr && followed >= next_search) {
      next_search *= 4;
      if (!RefuteCycle(packing_, axis_, start)) return false;
    }
    const Change change = trail_.At(processed_++);
    if (IsOrder(change.view)) SetOrder(change.view);
    if (!clauses_.Propagate(change) || !Dispatch(change)) return false;
  }
  return true;
}

bool Solver::Dispatch(const Change& change) {
  const int integer = IntegerOf(change.view);
  if (integer < packing_.buffers) return OffsetChanged(change.view);
  if (IsOrder(change.view)) return OrderChanged(change.view);
  const bool is_ceiling = integer < packing_.buffers + packing_.memories;
  return !is_ceiling || (change.view & 1) == 0 || CeilingChanged(integer - packing_.buffers);
}

bool Solver::IsOrder(View view) const {
  const int first = packing_.buffers + packing_.memories;
  const int integer = IntegerOf(view);
  return integer >= first && integer < first + static_cast<int>(packing_.pairs.size());
}

// Rules that count orders count those that were dispatched, even if dispatching found a conflict.
void Solver::SetOrder(View view) {
  orders_.Set(view);
  section_pair_cuts_.OrderSet(view);
}

void Solver::UndoOrder(View view) {
  orders_.Unset(view);
  section_pair_cuts_.OrderUndone(view);
}

bool Solver::OffsetChanged(View view) {
  const Side side = (view & 1) == 0 ? Side::kBottom : Side::kTop;
  const int buffer = IntegerOf(view);
  if (!pairs_.FloorRose(side, buffer)) return false;
  if (rests_) bottom_left_.FloorRose(side, buffer);
  if (!options_.edge_finding) return true;
  for (const int section : packing_.sections_of[buffer]) edges_.Wake(side, section);
  return true;
}

bool Solver::OrderChanged(View view) {
  if (!pairs_.OrderSet(view)) return false;
  if (rests_) bottom_left_.OrderSet(view);
  if (!options_.section_energy || decisions_.mood() != Decisions::Mood::kOrders) return true;
  auto [below, above] = packing_.OrderedPair(view);
  energy_.Wake(Side::kBottom, above);
  energy_.Wake(Side::kTop, below);
  return true;
}

bool Solver::CeilingChanged(int memory) {
  if (!pairs_.CeilingSank(memory)) return false;
  section_pair_cuts_.CeilingSank(memory);
  if (!options_.edge_finding) return true;
  for (int section = 0; section < packing_.sections.Count(); ++section) {
    if (packing_.section_memory[static_cast<size_t>(section)] == memory)
      edges_.Wake(Side::kBottom, section);
  }
  return true;
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
}

// Makes the next assumption or decision. False if there is none; `verdict` states why.
bool Solver::Extend(std::span<const BoundLiteral> assumptions, Verdict& verdict) {
  ++statistics_.nodes;
  const auto level = static_cast<size_t>(trail_.Level());
  if (level >= assumptions.size()) {
    if (decisions_.Decide()) return true;
    KeepSolution();
    verdict = Verdict::kFeasible;
    return false;
  }
  const BoundLiteral assumption = trail_.Rounded(assumptions[level]);
  if (trail_.IsFalse(assumption)) {
    verdict = Verdict::kInfeasible;
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
    if (!IsOrder(view)) continue;
    if (at < processed_) UndoOrder(view);
    decisions_.Reopen(view);
  }
  trail_.BacktrackTo(level);
  processed_ = std::min(processed_, trail_.Size());
  edges_.Sleep();
  energy_.Sleep();
  section_pair_cuts_.Sleep();
  bottom_left_.Sleep();
}

Bound Solver::LeastAtRoot(View view) {
  BacktrackTo(0);
  return trail_[view];
}

}  // namespace tessera::search::engines::lazy

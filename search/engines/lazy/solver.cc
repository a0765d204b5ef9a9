#include "tessera/search/engines/lazy/solver.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/engines/lazy/difference_cycles.h"

namespace tessera::search::engines::lazy {
namespace {

constexpr int64_t kNodesPerLook = 64;  // between two polls of the stop
constexpr int64_t kChangesPerLook = 4096;
constexpr int64_t kRulesPerLook = 64;
constexpr int64_t kChangesPerView = 16;  // in a row, before the search for a cycle
constexpr int kMostChanges = 4'000'000;  // on the trail: about 250 MB

// Every integer with bounds that suffice for any query; SetFirstBounds narrows them.
Trail MakeTrail(const Packing& packing) {
  Trail trail;
  for (int i = 0; i < packing.buffers; ++i)
    trail.AddInteger(0, 0, packing.alignment[static_cast<size_t>(i)]);
  for (int m = 0; m < packing.memories; ++m) trail.AddInteger(0, 0, 1);
  for (size_t pair = 0; pair < packing.pairs.size(); ++pair) trail.AddBoolean();
  return trail;
}

}  // namespace

bool Implies(const PackingQuery& tight, const PackingQuery& loose, bool sizes_may_differ) {
  const auto at_most = [](Bound a, Bound b) { return a <= b; };
  if (!sizes_may_differ && tight.sizes != loose.sizes) return false;
  return std::equal(loose.sizes.begin(), loose.sizes.end(), tight.sizes.begin(), at_most) &&
         std::equal(tight.ceilings.begin(), tight.ceilings.end(), loose.ceilings.begin(), at_most);
}

Solver::Solver(const Packing& packing, const LazyOptions& options, PackingQuery question,
               ProofLog* proof, const base::Stop* stop)
    : packing_(packing),
      options_(options),
      proof_(proof),
      trail_(MakeTrail(packing)),
      axis_(packing, trail_, question.sizes),
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
      questions_{{std::move(question), false}} {
  decisions_.FollowHints(options.follow_hints);
  next_restart_ = options.restart_base * base::Luby(1);
  if (proof_ != nullptr) analysis_.KeepDerivations();
  Reset();
}

void Solver::AddClause(std::span<const BoundLiteral> literals) {
  BacktrackTo(0);
  const bool places = std::any_of(literals.begin(), literals.end(), [&](BoundLiteral literal) {
    return IntegerOf(literal.view) < packing_.buffers || IsOrder(literal.view);
  });
  if (places && symmetric_) EndSymmetries();
  std::vector<BoundLiteral> clause;
  for (const BoundLiteral literal : literals) clause.push_back(trail_.Rounded(literal));
  std::sort(clause.begin(), clause.end(), [](BoundLiteral a, BoundLiteral b) {
    return std::pair(a.view, a.bound) < std::pair(b.view, b.bound);
  });
  // Of two literals on one view the weaker one implies the disjunction.
  const auto same_view = [](BoundLiteral a, BoundLiteral b) { return a.view == b.view; };
  clause.erase(std::unique(clause.begin(), clause.end(), same_view), clause.end());
  std::stable_partition(clause.begin(), clause.end(),
                        [&](BoundLiteral literal) { return !trail_.IsFalse(literal); });
  if (clause.empty()) {
    refuted_ = questions_.back().contradicted = true;
  } else if (clause.size() == 1) {
    units_.push_back({clause[0], kGiven});
    if (!trail_.Imply(clause[0], {})) questions_.back().contradicted = true;
  } else {
    clauses_.Add(clause, 0, 0);
    if (trail_.IsFalse(clause[1]) && !trail_.Imply(clause[0], {}))
      questions_.back().contradicted = true;
  }
}

// Refutations stay valid: more clauses make nothing feasible.
void Solver::EndSymmetries() {
  symmetric_ = false;
  rests_ = false;
  std::erase_if(units_, [](const Unit& unit) { return unit.question != kGiven; });
  const std::vector<bool> none(questions_.size());
  static_cast<void>(clauses_.Keep(none));  // Reset derives the consequences again
  Reset();
}

void Solver::Ask(PackingQuery question) {
  BacktrackTo(0);
  const PackingQuery& present = questions_.back().question;
  const bool same_sizes = question.sizes == present.sizes;
  if (same_sizes && question.ceilings == present.ceilings) return;
  const bool tighter = same_sizes && options_.keep_clauses && Implies(question, present, false);
  questions_.push_back({std::move(question), false});
  questions_.back().contradicted = IsRefutedBefore();
  if (!tighter) {
    Reset();
  } else if (!AssertCeilings()) {
    questions_.back().contradicted = true;
  }
}

bool Solver::IsRefutedBefore() const {
  const std::vector<bool> kept = FindKept();
  for (size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] && questions_[k].contradicted) return true;
  }
  return refuted_;
}

std::vector<bool> Solver::FindKept() const {
  std::vector<bool> kept(questions_.size());
  for (size_t k = 0; k < kept.size(); ++k) {
    const bool same = k + 1 == kept.size();
    kept[k] = same || (options_.keep_clauses && Implies(questions_.back().question,
                                                        questions_[k].question, SizesMayDiffer()));
  }
  return kept;
}

bool Solver::SizesMayDiffer() const {
  return !rests_ && std::all_of(packing_.differences.begin(), packing_.differences.end(),
                                [](const Difference& difference) { return difference.sized < 0; });
}

// Starts from the first bounds, with those lessons that still hold.
void Solver::Reset() {
  SetFirstBounds();
  edges_.Sleep();
  energy_.Sleep();
  bottom_left_.Sleep();
  energy_.Reload();
  section_pair_cuts_.Sleep();
  section_pair_cuts_.Reload();
  const std::vector<bool> kept = FindKept();
  const bool consistent = AssertFacts() && AssertUnits(kept) && clauses_.Keep(kept);
  if (!consistent) {
    questions_.back().contradicted = true;
    if (proof_ != nullptr) proof_->NoteRefutation(trail_, clauses_);
  }
  edges_.WakeAll();
}

void Solver::SetFirstBounds() {
  const Bound highest = packing_.HighestCeiling();
  axis_.SetSizes(questions_.back().question.sizes);
  for (int i = 0; i < packing_.buffers; ++i) {
    const Bound most =
        base::RoundDown(highest - axis_.Size(i), packing_.alignment[static_cast<size_t>(i)]);
    trail_.SetInitial(i, 0, most);
  }
  for (int m = 0; m < packing_.memories; ++m) trail_.SetInitial(packing_.CeilingOf(m), 0, highest);
  trail_.Clear();
  orders_.Clear();
  processed_ = 0;
}

bool Solver::AssertFacts() {
  if (proof_ == nullptr && !AssertTiedOrders()) return false;
  for (int i = 0; i < packing_.buffers; ++i) {
    const auto fixed = packing_.fixed[static_cast<size_t>(i)];
    if (fixed && !(trail_.Imply({2 * i, *fixed}, {}) && trail_.Imply({2 * i + 1, -*fixed}, {})))
      return false;
  }
  const auto assert_orders = [&](const std::vector<std::pair<int, int>>& pairs) {
    return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return trail_.Imply(axis_.Before(Side::kBottom, pair.first, pair.second), {});
    });
  };
  if (symmetric_ && options_.order_interchangeable && !assert_orders(packing_.interchangeable))
    return false;
  if (symmetric_ && options_.break_mirror && !assert_orders(packing_.mirrored)) return false;
  if (!AssertCeilings()) return false;
  for (int i = 0; i < packing_.buffers; ++i) {
    if (!pairs_.FloorRose(Side::kBottom, i) || !pairs_.FloorRose(Side::kTop, i)) return false;
  }
  return true;
}

// For two buffers at a fixed distance, the order is known, and whether the distance is large
// enough.
bool Solver::AssertTiedOrders() {
  if (packing_.differences.empty()) return true;
  const Ties ties = FindTies(packing_, axis_);
  if (ties.contradict) return false;
  for (const auto& [first, second] : packing_.pairs) {
    const auto a = static_cast<size_t>(first), b = static_cast<size_t>(second);
    if (ties.group[a] != ties.group[b]) continue;
    const Bound distance = ties.distance[b] - ties.distance[a];
    const bool is_below = distance > 0;
    if (std::abs(distance) < axis_.Size(is_below ? first : second)) return false;
    const BoundLiteral order =
        axis_.Before(Side::kBottom, is_below ? first : second, is_below ? second : first);
    if (!trail_.Imply(order, {})) return false;
  }
  return RefuteCycle(packing_, axis_, std::nullopt);
}

bool Solver::AssertUnits(const std::vector<bool>& kept) {
  std::erase_if(units_, [&](const Unit& unit) {
    return unit.question != kGiven && !kept[static_cast<size_t>(unit.question)];
  });
  return std::all_of(units_.begin(), units_.end(),
                     [&](const Unit& unit) { return trail_.Imply(unit.literal, {}); });
}

bool Solver::AssertCeilings() {
  for (int m = 0; m < packing_.memories; ++m) {
    const Bound ceiling = questions_.back().question.ceilings[static_cast<size_t>(m)];
    if (!trail_.Imply(axis_.EndsAt(m, ceiling), {})) return false;
  }
  return true;
}

Solver::Verdict Solver::Solve(std::span<const BoundLiteral> assumptions, const base::Budget& budget,
                              const base::Stop& stop) {
  BacktrackTo(0);
  if (budget.units <= 0) return Verdict::kUnknown;
  const int64_t most = statistics_.conflicts + std::min(budget.units, base::kMaxTotal);
  Verdict verdict = Verdict::kUnknown;
  gave_up_ = false;
  while (!questions_.back().contradicted) {
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
  questions_.back().contradicted = true;
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
  // Bounds raised at the root stay, so bounds that rise without end are reset.
  BacktrackTo(0);
  gave_up_ = !stop.Requested();
  if (gave_up_) Reset();
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
  int64_t next_look = kChangesPerLook;
  int64_t next_search = kChangesPerView * trail_.Views();
  while (processed_ < trail_.Size()) {
    const int64_t followed = processed_ - start;
    if (followed >= next_look) {
      next_look += kChangesPerLook;
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
  const int question = static_cast<int>(questions_.size()) - 1;
  if (lesson.clause.size() == 1) {
    units_.push_back({lesson.clause[0], question});
    trail_.Push(lesson.clause[0], {});
  } else {
    const int clause = clauses_.Add(lesson.clause, lesson.glue, question);
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
  if (!clauses_.Reduce()) questions_.back().contradicted = true;
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

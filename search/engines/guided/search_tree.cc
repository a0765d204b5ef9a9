// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/search_tree.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::engines::guided {

using lazy::View;

namespace {

constexpr double kShare = 0.95;  // of an activity that stays
constexpr double kHuge = 1e100;
constexpr double kFirst = 1e-9;  // far below what a dead end adds

std::vector<double> FirstActivities(size_t count) {
  std::vector<double> activities(count);
  for (size_t i = 0; i < count; ++i) activities[i] = kFirst * static_cast<double>(i);
  return activities;
}

}  // namespace

BooleanQueue::BooleanQueue(const lazy::Trail& trail, int first)
    : trail_(trail),
      first_(first),
      heap_(FirstActivities(static_cast<size_t>(trail.Views() / 2 - first))),
      values_(static_cast<size_t>(trail.Views() / 2 - first)) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = 2 * (first + static_cast<int>(i)) + 1;
}

void BooleanQueue::Note(int integer) {
  if (!Holds(integer)) return;
  heap_.Raise(integer - first_, increment_);
  if (increment_ < kHuge) return;
  heap_.Scale(1 / kHuge);
  increment_ /= kHuge;
}

void BooleanQueue::Age() { increment_ /= kShare; }

void BooleanQueue::Reopen(View view) {
  const int integer = lazy::IntegerOf(view);
  if (!Holds(integer) || !trail_.IsBoolean(view)) return;
  values_[static_cast<size_t>(integer - first_)] = view;
  heap_.Push(integer - first_);
}

View BooleanQueue::Next() {
  while (!heap_.Empty()) {
    const int at = heap_.Pop();
    const int integer = first_ + at;
    if (trail_.IsBoolean(2 * integer) && !trail_.IsFixed(integer))
      return values_[static_cast<size_t>(at)];
  }
  return -1;
}

using lazy::BoundLiteral;
using lazy::Propagation;
using lazy::Reason;
using lazy::View;

namespace {

constexpr int64_t kStepsPerLook = 16;  // between two polls of the stop
constexpr int64_t kStuckAfter = 100;   // dead ends below a point
constexpr int64_t kFirstRun = 50;      // dead ends before the next recipe
constexpr size_t kMostCandidates = 12;
constexpr int64_t kReduction = 2000;  // clauses learned before some are dropped
constexpr int64_t kReductionGrowth = 300;

}  // namespace

SearchTree::SearchTree(Propagation& propagation, std::vector<Candidates> recipes, Blame& blame,
                       BacktrackTargets& targets, const GuidedOptions& options)
    : propagation_(propagation),
      trail_(propagation.trail()),
      recipes_(std::move(recipes)),
      blame_(blame),
      targets_(targets),
      booleans_(trail_, propagation.packing().buffers + propagation.packing().memories),
      options_(options),
      analysis_(propagation.trail(), propagation.clauses(), true),
      most_learned_(kReduction),
      run_ends_(kFirstRun) {}

SearchTree::PartOutcome SearchTree::Run(const base::Budget& budget, const base::Stop& stop) {
  const int64_t most = statistics_.conflicts + std::min(budget.units, base::kMaxTotal);
  int64_t next_look = statistics_.nodes;
  while (!refuted_) {
    if (exhausted_ || gave_up_ || statistics_.conflicts >= most ||
        statistics_.nodes >= options_.most_steps)
      return PartOutcome::kUnknown;
    if (statistics_.nodes >= next_look) {
      if (stop.Requested()) return PartOutcome::kUnknown;
      next_look = statistics_.nodes + kStepsPerLook;
    }
    switch (propagation_.Run(stop)) {
      case Propagation::Fixpoint::kInterrupted:
        gave_up_ = !stop.Requested();
        // The last decision is made again by the next call.
        if (trail_.Level() > 0) GoTo(trail_.Level() - 1), --points_.back().next;
        return PartOutcome::kUnknown;
      case Propagation::Fixpoint::kConflict:
        ++statistics_.nodes;
        if (!Retreat()) refuted_ = !exhausted_;
        break;
      case Propagation::Fixpoint::kReached:
        if (!Advance()) return PartOutcome::kPlaced;
        ++statistics_.nodes;
        break;
    }
  }
  return PartOutcome::kRefuted;
}

// Makes the next decision. Returns false if nothing is open.
bool SearchTree::Advance() {
  const auto level = static_cast<size_t>(trail_.Level());
  if (points_.size() == level)
    points_.push_back(
        {{}, 0, PhaseAt(trail_.Level() - 1), statistics_.backtracks, targets_.Count(), 0});
  Point& point = points_.back();
  if (Decide(point)) return true;
  point.candidates = CandidatesAt(point.phase);
  point.next = 0;
  return Decide(point);
}

// Returns the phase of the placement that left the point.
int SearchTree::PhaseAt(int point) const {
  if (point < 0) return 0;
  const Point& before = points_[static_cast<size_t>(point)];
  const int last = before.next > 0 ? before.Decided() : -1;
  return last >= 0 ? recipes_[recipe_].PhaseOf(last) : before.phase;
}

std::vector<int> SearchTree::CandidatesAt(int phase) {
  const Candidates& recipe = recipes_[recipe_];
  if (!recipe.BooleansFirst()) {
    std::vector<int> picked = options_.lessons ? recipe.Pick(phase) : recipe.PickAll();
    if (!picked.empty()) return picked;
  }
  const View next = booleans_.Next();
  if (next >= 0) return {-1 - next, -1 - lazy::Opposite(next)};
  return recipe.BooleansFirst() ? recipe.Pick(phase) : std::vector<int>();
}

bool SearchTree::Decide(Point& point) {
  while (point.next < point.candidates.size()) {
    const int candidate = point.candidates[point.next++];
    const int integer = candidate >= 0 ? candidate : lazy::IntegerOf(-1 - candidate);
    if (trail_.IsFixed(integer)) continue;
    trail_.OpenLevel();
    trail_.Push(candidate >= 0 ? BoundLiteral{2 * candidate + 1, -trail_[2 * candidate]}
                               : lazy::OrderLiteral(-1 - candidate),
                {Reason::Kind::kDecision, 0, 0});
    return true;
  }
  return false;
}

// Learns from a conflict and returns to the point where the search continues. Returns false if the
// search is complete.
bool SearchTree::Retreat() {
  while (true) {
    ++statistics_.conflicts;
    const int level = analysis_.LevelOf(trail_.Conflict());
    if (level == 0) return false;
    BacktrackTo(level);
    points_.resize(static_cast<size_t>(level));
    const lazy::Lesson& lesson = analysis_.Learn(trail_.Conflict());
    ++statistics_.backtracks;
    NoteBlame(lesson);
    int target = level - 1;
    const Point& failed = points_.back();
    if (failed.Decided() < 0 && options_.lessons)
      target = lesson.level;
    else if (failed.next >= failed.candidates.size())
      target = TargetOfMajorBacktrack(target, lesson);
    if (options_.stuck && options_.lessons) target = LeaveStuck(target);
    if (target < 0) {
      exhausted_ = true;
      return false;
    }
    GoTo(target);
    if (!options_.lessons) return true;
    Keep(lesson, target);
    if (AssertUnits()) break;
  }
  if (options_.stuck && statistics_.backtracks >= run_ends_) NextRecipe();
  if (learned_ > 2 * most_learned_) Reduce();
  return !refuted_;
}

// Returns the point that the policy picks, or else that of the last but one placement to blame.
// Makes the failed candidates the first ones there.
int SearchTree::TargetOfMajorBacktrack(int failed, const lazy::Lesson& lesson) {
  const int culprit = options_.culprits ? lesson.level - 1 : failed - 1;
  const std::optional<int> picked = targets_.Pick(points_, trail_, lesson);
  int target = std::clamp(picked.value_or(culprit), 0, failed);
  if (!options_.lessons) {
    // No clause records the tried candidates, so only untried ones count.
    const auto is_done = [this](int point) {
      const Point& at = points_[static_cast<size_t>(point)];
      return at.next >= at.candidates.size();
    };
    if (failed == 0) return -1;
    target = std::min(target, failed - 1);
    while (target >= 0 && is_done(target)) --target;
    if (target >= 0) ++points_[static_cast<size_t>(target)].returns;
    return target;
  }
  if (target == failed) return target;
  ++points_[static_cast<size_t>(target)].returns;
  const std::vector<int> first = points_[static_cast<size_t>(failed)].candidates;
  Point& point = points_[static_cast<size_t>(target)];
  std::vector<int> rest(point.candidates.begin() + static_cast<std::ptrdiff_t>(point.next),
                        point.candidates.end());
  point.candidates.resize(point.next);
  const auto add = [&](int candidate) {
    const auto from = point.candidates.begin() + static_cast<std::ptrdiff_t>(point.next);
    const bool known = std::find(from, point.candidates.end(), candidate) != point.candidates.end();
    if (!known && point.candidates.size() - point.next < kMostCandidates)
      point.candidates.push_back(candidate);
  };
  for (const int candidate : first) add(candidate);
  for (const int candidate : rest) add(candidate);
  return target;
}

// Returns the deepest point up to the target with too many dead ends below it; the target if there
// is none.
int SearchTree::LeaveStuck(int target) {
  for (int point = target; point >= 0; --point) {
    if (statistics_.backtracks - points_[static_cast<size_t>(point)].since < kStuckAfter) continue;
    for (Point& each : points_) each.since = statistics_.backtracks;
    return point;
  }
  return target;
}

// The lengths of runs follow Luby's sequence, as in restarts, because no fixed length suits all
// Problems. Lessons stay.
void SearchTree::NextRecipe() {
  ReturnToRoot();
  const auto count = static_cast<int64_t>(recipes_.size());
  recipe_ = static_cast<size_t>(++runs_ % count);
  run_ends_ = statistics_.backtracks + kFirstRun * base::Luby(runs_ / count + 1);
  if (!AssertUnits()) refuted_ = true;
  if (learned_ > most_learned_) Reduce();
}

void SearchTree::BacktrackTo(int level) {
  if (level >= trail_.Level()) return;
  for (int at = trail_.LevelStart(level + 1); at < trail_.Size(); ++at)
    booleans_.Reopen(trail_.At(at).view);
  propagation_.BacktrackTo(level);
}

void SearchTree::GoTo(int point) {
  BacktrackTo(point);
  points_.resize(static_cast<size_t>(point) + 1);
}

void SearchTree::NoteBlame(const lazy::Lesson& lesson) {
  for (const int integer : lesson.involved) {
    if (integer < propagation_.packing().buffers) blame_.Note(integer);
    booleans_.Note(integer);
  }
  blame_.Age();
  booleans_.Age();
}

void SearchTree::Keep(const lazy::Lesson& lesson, int point) {
  ++learned_;
  if (lesson.clause.size() == 1) {
    units_.push_back(lesson.clause[0]);
    return;
  }
  const int clause = propagation_.clauses().Add(lesson.clause, lesson.glue, 0);
  if (lesson.level <= point) trail_.Push(lesson.clause[0], {Reason::Kind::kClause, clause, 0});
}

// Asserts the literals that always hold again: backtracking undoes them unless they were asserted
// at the root.
bool SearchTree::AssertUnits() {
  for (size_t at = rooted_units_; at < units_.size(); ++at) {
    if (!trail_.Imply(units_[at], {})) return false;
  }
  if (trail_.Level() == 0) rooted_units_ = units_.size();
  return true;
}

void SearchTree::Reduce() {
  ReturnToRoot();
  learned_ = 0;
  most_learned_ += kReductionGrowth;
  if (!AssertUnits() || !propagation_.clauses().Reduce()) refuted_ = true;
}

void SearchTree::ReturnToRoot() {
  BacktrackTo(0);
  points_.clear();
}

bool SearchTree::Resume() {
  exhausted_ = gave_up_ = false;
  rooted_units_ = 0;
  return AssertUnits() && propagation_.clauses().Keep({true});
}

}  // namespace tessera::search::engines::guided

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/path_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tessera/base/process.h"
#include "tessera/search/cost/lower_bounds.h"

namespace tessera::search::partition::paths {
namespace {

// The effort for which a search for a path extends a label, without prices and with them.
constexpr int64_t kEffortForLabel = 100;
constexpr int64_t kEffortForPricedLabel = 12;

// Paths through more states take more labels: as many again for each 1024 states.
constexpr int kStatesForMoreLabels = 1024;

// Number of arcs that a path search visits in the time that one tile shape of one operator takes.
constexpr int64_t kArcsForOne = 32;

}  // namespace

const hw_profiles::Profile& PathSearch::CutBy(const choices::SearchContext& context) const {
  return context.first_axes != nullptr && effort_.Scope().later_axes != LaterAxes::kEvery
             ? *context.first_axes
             : context.profile;
}

PathSearch::PathSearch(std::span<const Ordered> orders, const SearchLimits& search_limits,
                       const OtherOrderLimits& other_limits, base::Threads threads,
                       base::ProgressFunction progress, std::span<PathSearch* const> before)
    : lattice_(orders, search_limits.most_operators, other_limits),
      arcs_(lattice_),
      effort_(search_limits, lattice_.MostOperators(), Context().stop),
      effort_for_labels_(search_limits.effort),
      threads_(threads),
      progress_(std::move(progress)) {
  for (PathSearch* search : before) TakeOver(*search);
  if (!before.empty()) effort_.ContinueFrom(before.front()->effort_);
  if (effort_.Scope().later_axes == LaterAxes::kEvery) ForgetBounds();
  Refresh();
}

void PathSearch::TakeOver(PathSearch& before) {
  const std::vector<std::optional<size_t>> here = lattice_.FindHere(before.lattice_);
  std::vector<size_t> taken;
  for (size_t i = 0; i < here.size(); ++i) {
    if (!here[i] || !lattice_.TakeOver(*here[i], before.lattice_.Intervals()[i])) continue;
    arcs_.TakeNeeded(*here[i], before.arcs_, i);
    taken.push_back(*here[i]);
  }
  Account({}, TallyOf(taken));
  arcs_.TakeForbidden(before.arcs_, here);
}

PathLook PathSearch::NewLook() const {
  PathLook look = PathLook::For(Context().scale, Context().stop);
  if (effort_for_labels_) {
    look.most_labels = *effort_for_labels_ / kEffortForLabel;
    look.most_labels_with_prices = *effort_for_labels_ / kEffortForPricedLabel;
  }
  look.most_labels_with_prices *= 1 + lattice_.LastState() / kStatesForMoreLabels;
  return look;
}

void PathSearch::FindBounds() {
  if (IsCutShort()) return;
  std::deque<LatticeInterval>& intervals = lattice_.Intervals();
  Tasks tasks;
  for (size_t begin = 0; begin < intervals.size();) {
    const size_t end = lattice_.EndOfCrossings(begin);
    const Consecutive<std::deque<LatticeInterval>::iterator> crossings{
        intervals.begin() + static_cast<std::ptrdiff_t>(begin),
        intervals.begin() + static_cast<std::ptrdiff_t>(end)};
    begin = end;
    if (std::all_of(crossings.begin(), crossings.end(),
                    [](const LatticeInterval& each) { return each.is_bounded; }))
      continue;
    tasks.emplace_back([this, crossings] {
      if (IsCutShort()) return;
      const choices::SearchContext& context = lattice_.ContextOf(crossings.front());
      const cost::SubgraphBounds bounds(context.graph, CutBy(context), context.simulator.Usages(),
                                        crossings.front().choices.Interval());
      // Most crossings differ only in tensors that pass over the interval.
      std::map<std::vector<int>, plan::Metrics> known;
      for (LatticeInterval& each : crossings) {
        if (each.is_bounded) continue;
        const auto [found, is_new] = known.try_emplace(bounds.Touched(each.choices.Kept()));
        if (is_new) found->second = bounds.Find(found->first, cost::Detail::kTotals);
        each.choices.SetBound(found->second);
        each.is_bounded = true;
      }
    });
  }
  Run(tasks);
  effort_.AddWork(static_cast<int64_t>(tasks.size()));
  Refresh();
}

// Bounds of tiles that are cut along the first axes do not hold for other tiles.
void PathSearch::ForgetBounds() {
  if (Context().first_axes == nullptr) return;
  for (LatticeInterval& interval : lattice_.Intervals()) interval.is_bounded = false;
}

void PathSearch::Forbid(const Selection& selection) {
  for (const Selected& subgraph : selection.subgraphs)
    ChoicesAt(subgraph.interval->index).LookBeyond(subgraph.index);
  arcs_.Forbid(selection, effort_.Scope());
}

void PathSearch::KeepNothing() {
  effort_.KeepNothing();
  arcs_.DropForbiddenBeyond(effort_.Scope());
  Refresh();
}

bool PathSearch::Widen() {
  if (!effort_.Widen()) return false;
  Refresh();
  return true;
}

// ---- the steps ----

Found PathSearch::FindBest() {
  while (!IsCutShort()) {
    if (effort_.PassMilestone()) return {Ending::kMilestone};
    Step step = TakeStep(arcs_.ListOf(ArcTable::Of::kAll));
    is_best_open_ = is_open_;
    if (step.outcome == Outcome::kCutShort) break;
    if (step.outcome == Outcome::kConfirmed) return {Ending::kFound, std::move(step.selection)};
    if (step.outcome == Outcome::kNoPath && !Widen() && !Extend())
      return {IsCutShort() ? Ending::kCutShort : Ending::kNone};
    if (effort_.DrawBackIfSpent()) Refresh();
  }
  return {Ending::kCutShort};
}

std::optional<Selection> PathSearch::FindOpen(const Target& below) {
  while (!IsCutShort()) {
    Step step = TakeStep(arcs_.ListOf(ArcTable::Of::kExpanded), below);
    if (step.outcome == Outcome::kConfirmed) return std::move(step.selection);
    if (step.outcome != Outcome::kExamined) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Selection> PathSearch::FindBelow(std::optional<double> below, int64_t effort) {
  const int64_t most = Work() + effort;
  while (!IsCutShort() && !has_spent_) {
    Step step = TakeStep(arcs_.ListOf(ArcTable::Of::kAll),
                         below ? std::optional(Target{*below}) : std::nullopt);
    if (step.outcome == Outcome::kConfirmed) return std::move(step.selection);
    if (step.outcome == Outcome::kNotBelow) return std::nullopt;
    if (step.outcome == Outcome::kCutShort || step.outcome == Outcome::kStuck) {
      has_spent_ = true;
      return std::nullopt;
    }
    if (step.outcome == Outcome::kNoPath && !Widen() && !Extend()) return std::nullopt;
    has_spent_ = Work() > most;
  }
  return std::nullopt;
}

bool PathSearch::IsBelow(const cost::Cost& cost, const Target& target) const {
  const cost::Scale& scale = Context().scale;
  return target.tied != nullptr ? scale.Prefers(cost, *target.tied)
                                : cost::IsLess(scale.ScoreOf(cost), target.score);
}

// Finds the best path over these arcs. If its score is below the limit, examines its intervals that
// are known least.
PathSearch::Step PathSearch::TakeStep(const ArcLists& arcs, std::optional<Target> below) {
  PathLook look = NewLook();
  const std::optional<Path> path = arcs_.FindBest(arcs, look);
  effort_.AddWork((arcs.CountArcs() + look.joins) / kArcsForOne);
  is_open_ = look.left_open;
  if (!path) return {look.IsOpen() ? Outcome::kCutShort : Outcome::kNoPath};
  if (below && !IsBelow(path->cost, *below))
    return {look.left_open ? Outcome::kStuck : Outcome::kNotBelow};
  const auto is_untried = [](const Arc& arc) { return arc.choice == kUntried; };
  if (std::any_of(path->arcs.begin(), path->arcs.end(), is_untried))
    return {ExtendUntried(ScoreRooms(arcs, below->score), *path) ? Outcome::kExamined
                                                                 : Outcome::kStuck};
  if (auto selection = Confirm(*path)) return {Outcome::kConfirmed, *std::move(selection)};
  return {Outcome::kExamined};
}

// Returns the path as a selection if all its choices are known to fit; otherwise examines its
// intervals further.
std::optional<Selection> PathSearch::Confirm(const Path& path) {
  const base::Stop& stop = Context().stop;
  Tasks expansions;
  Tasks formulations;
  Tasks decisions;
  Tasks further_cuts;
  std::vector<size_t> intervals;
  for (const Arc& arc : path.arcs) {
    intervals.push_back(arc.interval);
    choices::IntervalChoices& choices = ChoicesAt(arc.interval);
    if (arc.choice == kBounded) {
      expansions.emplace_back([this, &choices, &stop] {
        if (IsCutShort()) return;
        if (effort_.Scope().later_axes == LaterAxes::kEvery) choices.AddAxes(stop);
        if (!choices.IsExpanded()) choices.Expand(stop);
      });
    } else if (!choices.IsFormulated()) {
      formulations.emplace_back([&choices, &stop] { choices.Formulate(stop); });
    } else if (choices.Choices()[arc.choice].verdict == choices::ChoiceStatus::kOpen) {
      decisions.emplace_back(
          [&choices, &stop, choice = arc.choice] { choices.Decide(choice, stop); });
    } else if (effort_.Scope().later_axes == LaterAxes::kBestPath && !choices.HasEveryAxis()) {
      further_cuts.emplace_back([&choices, &stop] { choices.AddAxes(stop); });
    }
  }
  const Tasks& next = !expansions.empty()     ? expansions
                      : !formulations.empty() ? formulations
                      : !decisions.empty()    ? decisions
                                              : further_cuts;
  if (next.empty()) return arcs_.SelectionOf(path);
  effort_.AddEffort(RunOn(intervals, next));
  Report();
  return std::nullopt;
}

// Adds tile shapes to the shortest expanded intervals that have skipped ones. Returns false if
// there are none, or enough were added.
bool PathSearch::Extend() {
  for (int length = 1; length <= lattice_.Longest(); ++length) {
    size_t added = 0;
    for (LatticeInterval& interval : lattice_.Intervals()) {
      if (interval.Length() != length || !interval.is_allowed) continue;
      if (Context().stop.Requested() || effort_.Extended() >= kMostExtended) return added > 0;
      const size_t more = interval.choices.Extend(kExtension);
      if (more > 0) arcs_.Refresh(interval.index, effort_.Scope());
      added += more;
      effort_.AddExtended(more);
    }
    if (added > 0) return true;
  }
  return false;
}

// ---- coverage and work ----

SearchCoverage PathSearch::Coverage() const {
  const SearchScope& scope = effort_.Scope();
  SearchCoverage coverage;
  coverage.operators = lattice_.Operators();
  coverage.most_operators = scope.most_operators;
  coverage.most_kept = lattice_.MostKept();
  coverage.caps_kept = lattice_.CapsKept();
  coverage.lacks_sets = lattice_.LacksSets();
  coverage.spills_all = lattice_.SpillsAll();
  coverage.leaves_out_kept = lattice_.CouldKeep() && !(scope.may_keep && scope.looks_at_kept);
  coverage.leaves_out_paths = is_best_open_;
  coverage.leaves_out_intervals = lattice_.LeavesOutIntervals();
  for (const LatticeInterval& interval : lattice_.Intervals()) {
    if (!interval.is_allowed) continue;
    const choices::IntervalChoices& choices = interval.choices;
    const bool expanded = choices.IsExpanded();
    coverage.leaves_out_shapes |= !expanded || choices.LeavesOutShapes();
    coverage.leaves_out_axes |= !choices.HasEveryAxis() && scope.later_axes != LaterAxes::kEvery;
    coverage.leaves_out_policies |= expanded && choices.LeavesOutPolicies();
    coverage.any_given_up |= choices.AnyGivenUp();
  }
  return coverage;
}

bool PathSearch::UntriedCouldFit() const {
  if (Coverage().leaves_out_axes) return true;
  PathLook look = NewLook();
  return arcs_.FindBest(arcs_.ListOf(ArcTable::Of::kWithUntried), look).has_value() ||
         look.IsOpen();
}

PathSearch::Tally PathSearch::TallyOf(std::span<const size_t> intervals) const {
  Tally tally;
  for (const size_t index : intervals) {
    const choices::IntervalChoices& interval = lattice_.Intervals()[index].choices;
    tally.expanded += interval.IsExpanded() ? 1 : 0;
    tally.formulated += interval.IsFormulated() ? 1 : 0;
    tally.solves += interval.Solves();
    tally.effort += interval.Effort();
  }
  return tally;
}

void PathSearch::Account(const Tally& before, const Tally& after) {
  done_.expanded += after.expanded - before.expanded;
  done_.formulated += after.formulated - before.formulated;
  done_.solves += after.solves - before.solves;
  done_.effort += after.effort - before.effort;
}

// Runs tasks that change only these intervals. Returns the effort.
int64_t PathSearch::RunOn(std::span<const size_t> intervals, const Tasks& tasks) {
  const Tally before = TallyOf(intervals);
  Run(tasks);
  for (const size_t interval : intervals) arcs_.Refresh(interval, effort_.Scope());
  const Tally after = TallyOf(intervals);
  Account(before, after);
  return after.effort - before.effort;
}

void PathSearch::Run(const Tasks& tasks) const {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  base::RunOnThreads(threads_.AtMost(tasks.size()), work);
}

void PathSearch::Report() const {
  if (!progress_) return;
  const size_t intervals = lattice_.Intervals().size();
  const std::string line =
      fmt::format("{} of {} intervals expanded, {} formulated, {} queries to engines",
                  done_.expanded, intervals, done_.formulated, done_.solves);
  progress_({.line = line,
             .phase = "intervals",
             .done = static_cast<int64_t>(done_.expanded),
             .total = static_cast<int64_t>(intervals)});
}

void PathSearch::ReportPlan(double score) const {
  if (!progress_) return;
  const std::string line = fmt::format("a plan with a score of {}", score);
  progress_({.line = line, .phase = "plan", .incumbent = score});
}

}  // namespace tessera::search::partition::paths

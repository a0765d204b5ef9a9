// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "tessera/search/partition/paths/path_search.h"

// The parts that a path search left out, once the best selection of the rest is known: the later
// axes, and untried tile shapes and policies, of all intervals or of those of the best plan.
namespace tessera::search::partition::paths {
namespace {

// Approximate number of tile shapes that are considered when an interval is expanded and
// formulated.
constexpr int64_t kUsualShapes = 16;

// How much more expensive a tile shape is if tiles are cut along rows and columns, because of their
// regions; and if banks have modes, because of placements.
constexpr int64_t kColumnsCost = 9;
constexpr int64_t kModesCost = 4;

bool CutsRowsAndColumns(const hw_profiles::Profile& profile) {
  const auto cuts = [&profile](base::Axis axis) {
    return std::any_of(
        profile.tiling.axes.begin(), profile.tiling.axes.end(),
        [axis](const hw_profiles::AxisGranularity& each) { return each.axis == axis; });
  };
  return cuts(base::Axis::kRows) && cuts(base::Axis::kColumns);
}

// Returns a number above every score that equals this one up to rounding.
double JustAbove(double score) {
  constexpr double kRounding = 1e-12;
  return std::nextafter(score + kRounding * std::abs(score),
                        std::numeric_limits<double>::infinity());
}

}  // namespace

bool PathSearch::CutEveryAxis(int64_t most_work) {
  int64_t work = 0;
  for (const LatticeInterval& interval : lattice_.Intervals()) {
    if (interval.is_allowed && !interval.choices.HasEveryAxis())
      work += kColumnsCost * kUsualShapes * interval.Length();
  }
  if (work > most_work) return false;
  effort_.CutEveryAxis();
  ForgetBounds();
  FindBounds();
  return true;
}

std::optional<Selection> PathSearch::FindExchange(const Selection& selection, const Target& below,
                                                  int64_t most_work) {
  const SearchEffort::Limits before = effort_.Current();
  const int64_t most = Work() + most_work;
  const bool has_widened = Widen();
  std::optional<Selection> found;
  while (!found && !IsCutShort() && Work() <= most && ExtendForExchange(selection, below))
    found = FindOpen(below);
  effort_.Restore(before);
  if (has_widened) Refresh();
  return found;
}

// Adds skipped policies and shapes. Returns false if there are none.
bool PathSearch::ExtendForExchange(const Selection& selection, const Target& below) {
  std::vector<size_t> intervals;
  std::atomic<size_t> added = 0;
  Tasks tasks;
  for (const Selected& subgraph : selection.subgraphs) {
    choices::IntervalChoices& choices = ChoicesAt(subgraph.interval->index);
    const double own = subgraph.Chosen().cost.score;
    const double score = below.tied != nullptr ? JustAbove(own) : own;
    const std::optional<cost::Cost> bound = choices.UntriedBound();
    if (!bound || bound->score >= score) continue;
    intervals.push_back(subgraph.interval->index);
    tasks.emplace_back(
        [&choices, &added, score] { added += choices.ExtendForExchange(score, kExtension); });
  }
  effort_.AddWork(RunOn(intervals, tasks));
  return added > 0;
}

// The work is estimated first, from the margin of each arc below the best score. If it exceeds the
// limit, the search does not begin.
Found PathSearch::FindBetter(const Target& below, int64_t most_work) {
  const SearchEffort::Limits before = effort_.Current();
  if (CutsRowsAndColumns(CutBy(Context()))) most_work /= kColumnsCost;
  if (Context().TileMemory().modes.size() > 1) most_work /= kModesCost;
  const int64_t most = Work() + most_work;
  Widen();
  Found found{Ending::kCutShort};
  bool goes_on = IsWithin(below.score, arcs_.ListOf(ArcTable::Of::kWithUntried), most_work);
  while (goes_on && !IsCutShort() && Work() <= most) {
    Step step = TakeStep(arcs_.ListOf(ArcTable::Of::kWithUntried), below);
    goes_on = step.outcome == Outcome::kExamined;
    if (step.outcome == Outcome::kNoPath || step.outcome == Outcome::kNotBelow)
      found.ending = Ending::kNone;
    is_best_open_ = is_best_open_ && found.ending != Ending::kNone;
    if (step.outcome == Outcome::kConfirmed) found = {Ending::kFound, std::move(step.selection)};
  }
  const bool has_widened = effort_.Scope() != before.scope;
  effort_.Restore(found.ending == Ending::kCutShort
                      ? before
                      : SearchEffort::Limits{effort_.Scope(), before.allowance});
  if (found.ending == Ending::kCutShort && has_widened) Refresh();
  return found;
}

// The search for ties is the search for better scores, but also uses arcs that can only reach the
// same score. This is sound because the bounds of metrics are bounds of ties too.
PathSearch::Target PathSearch::TieOf(const cost::Cost& cost) const {
  return {.score = JustAbove(Context().scale.ScoreOf(cost)), .tied = &cost};
}

std::optional<Selection> PathSearch::FindTie(const cost::Cost& cost, int64_t most_work) {
  Found found = FindBetter(TieOf(cost), most_work);
  if (found.ending != Ending::kFound) return std::nullopt;
  return std::move(found.selection);
}

std::optional<Selection> PathSearch::FindTiedExchange(const Selection& selection,
                                                      int64_t most_work) {
  return FindExchange(selection, TieOf(selection.cost), most_work);
}

// Adds some of the tile shapes that the path's untried arcs represent. Returns false if an interval
// has too many to list.
bool PathSearch::ExtendUntried(const ScoreRooms& rooms, const Path& path) {
  std::vector<size_t> intervals;
  std::vector<double> most;
  for (const Arc& arc : path.arcs) {
    if (arc.choice != kUntried) continue;
    intervals.push_back(arc.interval);
    most.push_back(rooms.Of(arc));
  }
  std::vector<size_t> added(intervals.size());
  Tasks tasks;
  for (size_t i = 0; i < intervals.size(); ++i)
    tasks.emplace_back(
        [&, i] { added[i] = ChoicesAt(intervals[i]).ExtendBelow(most[i], kExtension); });
  effort_.AddWork(RunOn(intervals, tasks));
  return std::none_of(added.begin(), added.end(), [](size_t shapes) { return shapes == 0; });
}

// Whether the estimated work on all arcs that may be on paths below this score is at most
// `most_work`.
bool PathSearch::IsWithin(double below, const ArcLists& arcs, int64_t most_work) const {
  const ScoreRooms rooms(arcs, below);
  const auto is_beyond_alone = [&](const LeastCost& least) {
    cost::Cost cost;
    cost.score = least.score;
    cost.maxima = least.maxima;
    return Context().scale.ScoreOf(cost) >= below;
  };
  int64_t work = 0;
  for (const ArcLists::Place& place : arcs.All()) {
    if (work > most_work) return false;
    if (place.arcs == nullptr || place.score >= rooms.Of(place) ||
        is_beyond_alone(place.arcs->Least()))
      continue;
    const Arc& arc = place.arcs->All().front();
    const bool is_examined = arc.choice != kUntried && arc.choice != kBounded;
    if (is_examined) continue;
    const LatticeInterval& interval = lattice_.Intervals()[arc.interval];
    const int64_t shapes = arc.choice == kUntried ? interval.choices.CountUntried() : kUsualShapes;
    work += shapes * interval.Length();
  }
  return work <= most_work;
}

}  // namespace tessera::search::partition::paths

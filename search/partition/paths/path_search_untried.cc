#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "tessera/search/partition/paths/path_search.h"

// Decides whether a plan better than the best known one exists among everything that was skipped:
// tile shapes that are not even cuts, policies, and intervals out of reach. An expanded interval
// has one additional arc whose cost is a lower bound of all its untried shapes. As long as the best
// path through all arcs is better than the plan, the untried shapes on it are tried; when it is
// not, no plan is better. The work is estimated first, from the margin of each arc below the best
// score, and no work that exceeds the limit is begun.
namespace tessera::search::partition::paths {
namespace {

// Approximate number of tile shapes that are considered when an interval is expanded and
// formulated.
constexpr int64_t kUsualShapes = 16;

// How much more expensive the regions of tiles are that are cut along rows and columns, and
// placements if banks have modes.
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

}  // namespace

Found PathSearch::FindBetter(double below, int64_t most_work) {
  const auto reach_before = std::pair(longest_, looks_at_kept_);
  const auto allowance_before = allowance_;
  if (CutsRowsAndColumns(context_->profile)) most_work /= kColumnsCost;
  if (context_->TileMemory().modes.size() > 1) most_work /= kModesCost;
  const int64_t most = work_ + most_work;
  Widen();
  Found found{Ending::kCutShort};
  if (IsWithin(below, ArcsWithUntried(), most_work)) {
    while (!IsCutShort() && work_ <= most) {
      const std::vector<Arc> arcs = ArcsWithUntried();
      const std::optional<Path> path = Look(arcs);
      if (!path && IsCutShort()) break;
      if (!path || !cost::IsLess(context_->scale.ScoreOf(path->cost), below)) {
        found.ending = Ending::kNone;
        break;
      }
      const bool untried = std::any_of(path->arcs.begin(), path->arcs.end(), [&arcs](size_t arc) {
        return arcs[arc].choice == kUntried;
      });
      if (untried) {
        if (!ExtendUntried(below, *path, arcs)) break;
      } else if (auto selection = Confirm(*path, arcs)) {
        found = {Ending::kFound, *std::move(selection)};
        break;
      }
    }
  }
  if (found.ending == Ending::kCutShort && std::pair(longest_, looks_at_kept_) != reach_before) {
    std::tie(longest_, looks_at_kept_) = reach_before;
    for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
  }
  allowance_ = allowance_before;
  return found;
}

// What is in reach, and for each open interval with tile shapes that were skipped one arc that
// costs as little as any can.
std::vector<Arc> PathSearch::ArcsWithUntried() const {
  std::vector<Arc> arcs = CurrentArcs();
  for (const choices::IntervalChoices& interval : intervals_) {
    if (!interval.IsExpanded() || !InReach(interval)) continue;
    const std::optional<cost::Cost> untried = interval.UntriedBound();
    if (!untried) continue;
    arcs.push_back(ArcOf(interval));
    arcs.back().cost = *untried;
    arcs.back().choice = kUntried;
  }
  return arcs;
}

// For each arc the score that it must stay below to be part of a path below this one, by the sums
// of the cheapest arcs before and behind it.
std::vector<double> PathSearch::RoomsBelow(double below, std::span<const Arc> arcs) const {
  const auto states = static_cast<size_t>(last_state_) + 1;
  std::vector<double> before(states, std::numeric_limits<double>::infinity());
  std::vector<double> behind = before;
  before.front() = behind.back() = 0;
  std::vector<size_t> by_begin(arcs.size());
  std::iota(by_begin.begin(), by_begin.end(), size_t{0});
  std::sort(by_begin.begin(), by_begin.end(),
            [&arcs](size_t a, size_t b) { return arcs[a].begin < arcs[b].begin; });
  for (const size_t i : by_begin) {
    double& end = before[static_cast<size_t>(arcs[i].end)];
    end = std::min(end, before[static_cast<size_t>(arcs[i].begin)] + arcs[i].cost.score);
  }
  for (auto i = by_begin.rbegin(); i != by_begin.rend(); ++i) {
    double& begin = behind[static_cast<size_t>(arcs[*i].begin)];
    begin = std::min(begin, behind[static_cast<size_t>(arcs[*i].end)] + arcs[*i].cost.score);
  }
  std::vector<double> rooms;
  rooms.reserve(arcs.size());
  for (const Arc& arc : arcs)
    rooms.push_back(below - before[static_cast<size_t>(arc.begin)] -
                    behind[static_cast<size_t>(arc.end)]);
  return rooms;
}

// Whether what bounds do not keep out of paths below this score takes about as much work as that.
bool PathSearch::IsWithin(double below, std::span<const Arc> arcs, int64_t most_work) const {
  const std::vector<double> rooms = RoomsBelow(below, arcs);
  int64_t work = 0;
  for (size_t i = 0; i < arcs.size() && work <= most_work; ++i) {
    if (arcs[i].cost.score >= rooms[i]) continue;
    const choices::IntervalChoices& interval = intervals_[arcs[i].interval];
    const graph::Interval operators = interval.Interval();
    const int64_t shapes = arcs[i].choice == kUntried   ? interval.CountUntried()
                           : arcs[i].choice == kBounded ? kUsualShapes
                                                        : 0;
    work += shapes * (operators.last - operators.first + 1);
  }
  return work <= most_work;
}

// Adds some of the tile shapes that the path's untried arcs stand for; false where an interval has
// too many to list them.
bool PathSearch::ExtendUntried(double below, const Path& path, std::span<const Arc> arcs) {
  const std::vector<double> rooms = RoomsBelow(below, arcs);
  std::vector<size_t> intervals;
  std::vector<double> most;
  for (const size_t arc : path.arcs) {
    if (arcs[arc].choice != kUntried) continue;
    intervals.push_back(arcs[arc].interval);
    most.push_back(rooms[arc]);
  }
  std::vector<size_t> added(intervals.size());
  Tasks tasks;
  for (size_t i = 0; i < intervals.size(); ++i)
    tasks.emplace_back(
        [&, i] { added[i] = intervals_[intervals[i]].ExtendBelow(most[i], kExtension); });
  work_ += RunOn(intervals, tasks);
  return std::none_of(added.begin(), added.end(), [](size_t shapes) { return shapes == 0; });
}

}  // namespace tessera::search::partition::paths

#include "tessera/search/partition/paths/path_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "tessera/base/process.h"
#include "tessera/search/cost/lower_bounds.h"

namespace tessera::search::partition::paths {
namespace {

Ordered InGivenOrder(Ordered ordered) {
  ordered.order.resize(ordered.context->graph.operators.size());
  std::iota(ordered.order.begin(), ordered.order.end(), 0);
  return ordered;
}

OrderLattice LatticeOf(std::span<const Ordered> all) {
  std::vector<orders::Order> orders;
  std::vector<OrderLattice::Kind> kinds;
  for (const Ordered& each : all) {
    orders.push_back(each.order);
    kinds.push_back(each.kind);
  }
  return OrderLattice(std::move(orders), std::move(kinds));
}

// Number of arcs that a path search visits in the time that one tile shape of one operator takes.
constexpr int64_t kArcsForOne = 32;

// Limit on tile shapes that are considered to prove that a tile of the best selection is the
// largest.
constexpr size_t kMostLarger = 128;

}  // namespace

PathSearch::PathSearch(const Ordered& ordered, const SearchLimits& search_limits, int threads,
                       std::function<void(std::string_view)> progress)
    : PathSearch(std::vector{InGivenOrder(ordered)}, search_limits, {}, threads,
                 std::move(progress), {}) {}

PathSearch::PathSearch(std::span<const Ordered> orders, const SearchLimits& search_limits,
                       const OtherOrderLimits& other_limits, int threads,
                       std::function<void(std::string_view)> progress,
                       std::span<PathSearch* const> before)
    : orders_(orders.begin(), orders.end()),
      context_(orders_.front().context),
      constraints_(orders_.front().constraints),
      operators_(static_cast<int>(context_->graph.operators.size())),
      lattice_(LatticeOf(orders)),
      most_(std::min(search_limits.most_operators, operators_)),
      lengths_(std::max(most_, constraints_->Inseparable({0, operators_ - 1}))),
      longest_(most_),
      allowance_(search_limits.effort),
      most_work_(search_limits.most_work),
      threads_(std::max(1, threads)),
      progress_(std::move(progress)) {
  NumberStates();
  AddIntervals(other_limits);
  kept_.resize(intervals_.size());
  arcs_.resize(intervals_.size());
  bounded_.resize(intervals_.size());
  given_away_.resize(intervals_.size());
  for (PathSearch* search : before) TakeOver(*search);
  if (!before.empty()) TakeSearchLimits(*before.front());
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
}

void PathSearch::FindBounds() {
  Tasks tasks;
  for (size_t begin = 0; begin < intervals_.size();) {
    size_t end = begin + 1;  // of one interval, however it is crossed
    while (end < intervals_.size() && order_of_[end] == order_of_[begin] &&
           intervals_[end].Interval() == intervals_[begin].Interval())
      ++end;
    const auto is_bounded = [this](size_t i) { return bounded_[i] != 0; };
    bool all_bounded = true;
    for (size_t i = begin; i < end; ++i) all_bounded = all_bounded && is_bounded(i);
    if (!all_bounded) {
      tasks.emplace_back([this, begin, end, is_bounded] {
        if (IsCutShort()) return;
        const choices::SearchContext& context = *orders_[order_of_[begin]].context;
        const cost::SubgraphBounds bounds(context.graph, context.profile,
                                          context.simulator.Usages(), intervals_[begin].Interval());
        for (size_t i = begin; i < end; ++i) {
          if (is_bounded(i)) continue;
          intervals_[i].SetBound(bounds.Find(intervals_[i].Kept()));
          bounded_[i] = 1;
        }
      });
    }
    begin = end;
  }
  Run(tasks);
  work_ += static_cast<int64_t>(tasks.size());
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
}

size_t PathSearch::PlaceOf(int first, int length) const {
  // Operators before `first` begin lengths_ intervals each, but for those too near the end.
  const int full = std::max(0, std::min(first, operators_ - lengths_ + 1));
  int64_t index = int64_t{full} * lengths_;
  for (int begin = full; begin < first; ++begin) index += operators_ - begin;
  return static_cast<size_t>(index + length - 1);
}

size_t PathSearch::IndexOf(const choices::IntervalChoices& interval) const {
  return static_cast<size_t>(&interval - intervals_.data());
}

std::span<const choices::IntervalChoices> PathSearch::Crossings(int first, int length) const {
  const size_t place = PlaceOf(first, length);
  const size_t end = place + 1 < crossings_.size() ? crossings_[place + 1] : intervals_.size();
  return std::span(intervals_).subspan(crossings_[place], end - crossings_[place]);
}

Arc PathSearch::ArcOf(const choices::IntervalChoices& interval) const {
  const size_t index = IndexOf(interval);
  return {.begin = states_[index].first,
          .end = states_[index].second,
          .interval = index,
          .choice = kBounded,
          .cost = {}};
}

void PathSearch::KeepNothing() {
  may_keep_ = false;
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
}

void PathSearch::Refresh(size_t interval) {
  const choices::IntervalChoices& choices = intervals_[interval];
  std::vector<Arc>& arcs = arcs_[interval];
  arcs.clear();
  if (!InReach(choices)) return;
  Arc arc = ArcOf(choices);
  arc.cost = choices.Bound();
  if (!choices.IsExpanded()) {
    arcs.push_back(arc);
    return;
  }
  for (const size_t choice : choices.Front(kept_[interval])) {
    arc.choice = choice;
    arc.cost = choices.Choices()[choice].cost;
    arcs.push_back(arc);
  }
}

std::vector<Arc> PathSearch::CurrentArcs(bool only_open) const {
  std::vector<Arc> arcs;
  for (const std::vector<Arc>& each : arcs_) {
    if (only_open && !each.empty() && each.front().choice == kBounded) continue;
    arcs.insert(arcs.end(), each.begin(), each.end());
  }
  return arcs;
}

Selection PathSearch::SelectionOf(const Path& path, std::span<const Arc> arcs) const {
  Selection selection;
  selection.cost = path.cost;
  for (const size_t index : path.arcs) {
    const Arc& arc = arcs[index];
    selection.intervals.push_back(&intervals_[arc.interval]);
    selection.choices.push_back(arc.choice);
  }
  return selection;
}

std::optional<Path> PathSearch::Look(std::span<const Arc> arcs) {
  PathLook look{.stop = &context_->stop};
  std::optional<Path> path = FindBestPath(context_->scale, last_state_, arcs, forbidden_, look);
  work_ += (static_cast<int64_t>(arcs.size()) + look.joins) / kArcsForOne;
  return path;
}

Found PathSearch::FindBest() {
  while (!IsCutShort()) {
    if (work_ >= milestone_) {
      milestone_ = 2 * work_;
      return {Ending::kMilestone};
    }
    const std::vector<Arc> arcs = CurrentArcs();
    const std::optional<Path> path = Look(arcs);
    if (!path) {
      if (IsCutShort()) break;
      if (Widen() || Extend()) continue;
      return {IsCutShort() ? Ending::kCutShort : Ending::kNone};
    }
    if (auto selection = Confirm(*path, arcs)) return {Ending::kFound, *std::move(selection)};
    if (allowance_ && effort_ > *allowance_) DrawBack();
  }
  return {Ending::kCutShort};
}

std::optional<Selection> PathSearch::FindOpen(double below) {
  while (!IsCutShort()) {
    const std::vector<Arc> arcs = CurrentArcs(true);
    const std::optional<Path> path = Look(arcs);
    if (!path || !cost::IsLess(context_->scale.ScoreOf(path->cost), below)) return std::nullopt;
    if (auto selection = Confirm(*path, arcs)) return selection;
  }
  return std::nullopt;
}

std::optional<Selection> PathSearch::FindBelow(double score, int64_t effort) {
  const int64_t most = work_ + effort;
  while (!IsCutShort() && !has_spent_) {
    const std::vector<Arc> arcs = CurrentArcs();
    const std::optional<Path> path = Look(arcs);
    if (path && context_->scale.ScoreOf(path->cost) >= score) return std::nullopt;
    if (!path) {
      if (IsCutShort() || (!Widen() && !Extend())) return std::nullopt;
    } else if (auto selection = Confirm(*path, arcs)) {
      return selection;
    }
    has_spent_ = work_ > most;
  }
  return std::nullopt;
}

// Returns the path if all of it is known to fit; otherwise takes the next step to find out.
std::optional<Selection> PathSearch::Confirm(const Path& path, std::span<const Arc> arcs) {
  Tasks expansions;
  Tasks formulations;
  Tasks decisions;
  for (const size_t index : path.arcs) {
    const Arc& arc = arcs[index];
    choices::IntervalChoices& choices = intervals_[arc.interval];
    if (arc.choice == kBounded) {
      expansions.emplace_back([this, &choices] { Expand(choices); });
    } else if (!choices.IsFormulated()) {
      formulations.emplace_back([this, &choices] { choices.Formulate(context_->stop); });
    } else if (choices.Choices()[arc.choice].verdict == choices::ChoiceStatus::kOpen) {
      decisions.emplace_back(
          [this, &choices, choice = arc.choice] { choices.Decide(choice, context_->stop); });
    }
  }
  const Tasks& next = !expansions.empty()     ? expansions
                      : !formulations.empty() ? formulations
                                              : decisions;
  if (next.empty()) return SelectionOf(path, arcs);
  std::vector<size_t> intervals;
  for (const size_t index : path.arcs) intervals.push_back(arcs[index].interval);
  const int64_t effort = RunOn(intervals, next);
  effort_ += effort;
  work_ += effort;
  Report();
  return std::nullopt;
}

void PathSearch::Expand(choices::IntervalChoices& choices) const {
  if (!IsCutShort()) choices.Expand(context_->stop);
}

bool PathSearch::InReach(const choices::IntervalChoices& interval) const {
  const graph::Interval operators = interval.Interval();
  if (!IsAllowed(interval)) return false;
  const int inseparable = ConstraintsOf(IndexOf(interval)).Inseparable(operators);
  if (operators.last - operators.first >= std::max(longest_, inseparable)) return false;
  return IsAtHome(interval) || (may_keep_ && looks_at_kept_);
}

PathSearch::Tally PathSearch::TallyOf(std::span<const size_t> intervals) const {
  Tally tally;
  for (const size_t index : intervals) {
    const choices::IntervalChoices& interval = intervals_[index];
    tally.expanded += interval.IsExpanded() ? 1 : 0;
    tally.formulated += interval.IsFormulated() ? 1 : 0;
    tally.solves += interval.Solves();
    tally.effort += interval.Effort();
  }
  return tally;
}

// Runs tasks that change only these intervals. Returns the effort.
int64_t PathSearch::RunOn(std::span<const size_t> intervals, const Tasks& tasks) {
  const Tally before = TallyOf(intervals);
  Run(tasks);
  for (const size_t interval : intervals) Refresh(interval);
  const Tally after = TallyOf(intervals);
  Account(before, after);
  return after.effort - before.effort;
}

void PathSearch::Account(const Tally& before, const Tally& after) {
  done_.expanded += after.expanded - before.expanded;
  done_.formulated += after.formulated - before.formulated;
  done_.solves += after.solves - before.solves;
  done_.effort += after.effort - before.effort;
}

void PathSearch::DrawBack() {
  effort_ = 0;
  if (longest_ > kUsualMostOperators) {
    longest_ = kUsualMostOperators;
  } else {
    looks_at_kept_ = false;
    allowance_.reset();
  }
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
}

bool PathSearch::Widen() {
  allowance_.reset();
  if (longest_ == most_ && looks_at_kept_) return false;
  longest_ = most_;
  looks_at_kept_ = true;
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
  return true;
}

// Adds tile shapes to the shortest expanded intervals that have skipped ones. False if there are
// none, or enough were added.
bool PathSearch::Extend() {
  for (int length = 1; length <= lengths_; ++length) {
    size_t added = 0;
    for (size_t i = 0; i < intervals_.size(); ++i) {
      const graph::Interval operators = intervals_[i].Interval();
      if (operators.last - operators.first + 1 != length || allowed_[i] == 0) continue;
      if (context_->stop.Requested() || extended_ >= kMostExtended) return added > 0;
      const size_t more = intervals_[i].Extend(kExtension);
      if (more > 0) Refresh(i);
      added += more;
      extended_ += more;
    }
    if (added > 0) return true;
  }
  return false;
}

bool PathSearch::UntriedCouldBeat(double score) const {
  PathLook look{.stop = &context_->stop};
  const std::optional<Path> path =
      FindBestPath(context_->scale, last_state_, ArcsWithUntried(), forbidden_, look);
  return context_->stop.Requested() || (path && context_->scale.ScoreOf(path->cost) < score);
}

bool PathSearch::LeavesOutShapes() const {
  return std::any_of(
      intervals_.begin(), intervals_.end(), [this](const choices::IntervalChoices& interval) {
        return IsAllowed(interval) && (!interval.IsExpanded() || interval.LeavesOutShapes());
      });
}

bool PathSearch::LeavesOutPolicies() const {
  return std::any_of(
      intervals_.begin(), intervals_.end(), [this](const choices::IntervalChoices& interval) {
        return IsAllowed(interval) && interval.IsExpanded() && interval.LeavesOutPolicies();
      });
}

std::optional<Selection> PathSearch::FindKnown() const {
  std::vector<Arc> arcs;
  for (const choices::IntervalChoices& interval : intervals_) {
    if (!IsAllowed(interval) || (!may_keep_ && !IsAtHome(interval))) continue;
    Arc arc = ArcOf(interval);
    for (arc.choice = 0; arc.choice < interval.Choices().size(); ++arc.choice) {
      const choices::Choice& choice = interval.Choices()[arc.choice];
      if (choice.verdict != choices::ChoiceStatus::kFits) continue;
      arc.cost = choice.cost;
      arcs.push_back(arc);
    }
  }
  PathLook look{.stop = &context_->stop};
  std::optional<Path> path = FindBestPath(context_->scale, last_state_, arcs, forbidden_, look);
  if (!path && context_->stop.Requested()) {
    arcs = BestSingleArcs();
    path = FindBestPath(context_->scale, last_state_, arcs, forbidden_);
  }
  if (!path) return std::nullopt;
  return SelectionOf(*path, arcs);
}

// One arc for each operator that fits alone and is allowed; these form at most one path.
std::vector<Arc> PathSearch::BestSingleArcs() const {
  std::vector<Arc> arcs;
  for (const size_t index : Singles()) {
    const choices::IntervalChoices& single = intervals_[index];
    if (!IsAllowed(single) || (!may_keep_ && !IsAtHome(single))) continue;
    std::optional<size_t> best;
    for (size_t i = 0; i < single.Choices().size(); ++i) {
      const choices::Choice& choice = single.Choices()[i];
      if (choice.verdict != choices::ChoiceStatus::kFits) continue;
      if (!best || context_->scale.Prefers(choice.cost, single.Choices()[*best].cost)) best = i;
    }
    if (!best) continue;
    Arc& arc = arcs.emplace_back(ArcOf(single));
    arc.choice = *best;
    arc.cost = single.Choices()[*best].cost;
  }
  return arcs;
}

void PathSearch::FormulateRefused(const Selection& selection, size_t most) {
  Tasks tasks;
  for (size_t i = 0; i < selection.intervals.size(); ++i) {
    choices::IntervalChoices& interval = intervals_[IndexOf(*selection.intervals[i])];
    const size_t choice = selection.choices[i];
    tasks.emplace_back([this, &interval, choice, most] {
      if (!context_->stop.Requested()) interval.TryAll(kMostLarger);
      interval.FormulateRefused(choice, most);
    });
  }
  Run(tasks);
}

void PathSearch::Forbid(const Selection& selection) {
  Forbidden forbidden;
  for (size_t i = 0; i < selection.intervals.size(); ++i) {
    Arc arc = ArcOf(*selection.intervals[i]);
    arc.choice = selection.choices[i];
    std::vector<size_t>& kept = kept_[arc.interval];
    if (std::find(kept.begin(), kept.end(), arc.choice) == kept.end()) kept.push_back(arc.choice);
    Refresh(arc.interval);
    forbidden.push_back(arc);
  }
  forbidden_.push_back(std::move(forbidden));
}

bool PathSearch::AnyGivenUp() const {
  return std::any_of(
      intervals_.begin(), intervals_.end(),
      [this](const choices::IntervalChoices& i) { return IsAllowed(i) && i.AnyGivenUp(); });
}

void PathSearch::Run(const Tasks& tasks) const {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  base::RunOnThreads(std::min(threads_, static_cast<int>(tasks.size())), work);
}

void PathSearch::Report() const {
  if (!progress_) return;
  progress_(fmt::format("{} of {} intervals opened, {} posed, {} questions put to engines",
                        done_.expanded, intervals_.size(), done_.formulated, done_.solves));
}

}  // namespace tessera::search::partition::paths

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "tessera/search/partition/paths/path_search.h"

// The parts of a path search that do not step towards the best path: single operators, each of
// which is decided until its best choice fits, none is left, or too many tile shapes were added;
// and the selections made from the knowledge at the end.
namespace tessera::search::partition::paths {
namespace {

// The most tile shapes that are added to prove that a tile of the best selection is the largest.
constexpr size_t kMostLarger = 128;

// The most queries about one operator, or one of the shortest subgraphs, with kFewQueries.
constexpr int kFewQueries = 16;

// The number of intervals that are examined between two tests of the limits, on any number of
// threads.
constexpr size_t kTogether = 4;

// The time after an interrupt in which the layer-by-layer plan is still completed.
constexpr base::Stop::Clock::duration kAfterInterrupt = std::chrono::milliseconds(30);

}  // namespace

void PathSearch::FormulateSingles(const base::Stop& stop) {
  FormulateAll(lattice_.Singles(), stop);
}

void PathSearch::FormulateAll(std::vector<size_t> open, const base::Stop& stop) {
  std::erase_if(open, [this](size_t index) { return ChoicesAt(index).IsFormulated(); });
  const size_t together = effort_.HasWorkLimit() ? kTogether : open.size();
  for (size_t first = 0; first < open.size() && !effort_.IsCutShort(); first += together) {
    const auto some = std::span(open).subspan(first, std::min(together, open.size() - first));
    Tasks tasks;
    for (const size_t index : some) {
      choices::IntervalChoices& choices = ChoicesAt(index);
      tasks.emplace_back([&choices, &stop] {
        if (stop.Requested()) return;
        if (!choices.IsExpanded()) choices.Expand(stop);
        choices.Formulate(stop);
      });
    }
    effort_.AddWork(RunOn(some, tasks));
  }
}

bool PathSearch::DecideSingles(const base::Stop& stop, Persistence persistence) {
  // The stop is read before Report, because a report may request it.
  const bool decided =
      DecideBest(lattice_.Singles(), stop, persistence) && !has_hurried_ && !stop.Requested();
  Report();
  return decided;
}

std::vector<size_t> PathSearch::Shortest() const {
  std::vector<size_t> shortest;
  for (const LatticeInterval& interval : lattice_.Intervals()) {
    const auto [first, last] = interval.choices.Interval();
    const bool is_shortest = last - first + 1 == std::max(1, interval.inseparable);
    if (interval.order == 0 && interval.is_allowed && interval.is_at_home && is_shortest)
      shortest.push_back(interval.index);
  }
  return shortest;
}

void PathSearch::DecideShortest(const base::Stop& stop) {
  DecideBest(Shortest(), stop, Persistence::kFewQueries);
}

bool PathSearch::DecideBest(const std::vector<size_t>& intervals, const base::Stop& stop,
                            Persistence persistence) {
  FormulateAll(intervals, stop);
  std::atomic<bool> all_decided = true;
  Tasks tasks;
  for (const size_t index : intervals) {
    choices::IntervalChoices& choices = ChoicesAt(index);
    if (!choices.IsFormulated()) {
      all_decided = false;
      continue;
    }
    tasks.emplace_back([this, &choices, &stop, &all_decided, persistence] {
      if (!DecideUntilOneFits(choices, stop, persistence)) all_decided = false;
    });
  }
  RunOn(intervals, tasks);
  return all_decided;
}

// Decides choices until one fits or none is left. Returns false if it ended for another reason.
bool PathSearch::DecideUntilOneFits(choices::IntervalChoices& choices, const base::Stop& stop,
                                    Persistence persistence) {
  const bool had_every_axis = choices.HasEveryAxis();
  for (int queries = 0; !stop.Requested();) {
    const std::optional<size_t> best = BestSingle(choices);
    if (best && choices.Choices()[*best].verdict == choices::ChoiceStatus::kFits) return true;
    if (persistence == Persistence::kFewQueries && queries == kFewQueries) return false;
    if (best) {
      choices.Decide(*best, stop);
      ++queries;
    } else if (choices.HasEveryAxis() != had_every_axis ||
               choices.Choices().size() > kMostExtended || choices.Extend(kExtension) == 0) {
      return true;
    }
  }
  return false;
}

// If one subgraph does not fit, the others are of no use, so those that were tried without success
// come first. After a deadline the search completes a layer-by-layer plan; after an interrupt it
// has only kAfterInterrupt.
void PathSearch::DecideShortestInHaste() {
  const auto has = [this](choices::ChoiceStatus verdict) {
    return [this, verdict](size_t index) {
      const std::span<const choices::Choice> known = ChoicesAt(index).Choices();
      return std::any_of(known.begin(), known.end(), [verdict](const choices::Choice& choice) {
        return choice.verdict == verdict;
      });
    };
  };
  const auto fits = has(choices::ChoiceStatus::kFits);
  std::vector<size_t> open = Shortest();
  std::erase_if(open, fits);
  std::stable_partition(open.begin(), open.end(), has(choices::ChoiceStatus::kImpossible));
  has_hurried_ = has_hurried_ || !open.empty();
  const base::Stop never;
  std::optional<base::Stop> moment;
  for (size_t first = 0; first < open.size(); first += kTogether) {
    if (const auto interrupted = Context().stop.InterruptedAt(); interrupted && !moment)
      moment.emplace(*interrupted + kAfterInterrupt);
    const base::Stop& stop = moment ? *moment : never;
    if (stop.Requested()) return;
    const auto some = std::span(open).subspan(first, std::min(kTogether, open.size() - first));
    Tasks tasks;
    for (const size_t index : some)
      tasks.emplace_back([&choices = ChoicesAt(index), &stop] { choices.ExpandInHaste(stop); });
    RunOn(some, tasks);
    if (!std::all_of(some.begin(), some.end(), fits)) return;
  }
}

std::optional<size_t> PathSearch::BestSingle(const choices::IntervalChoices& single) const {
  std::optional<size_t> best;
  for (const size_t choice : single.Front({})) {
    const auto cost = [&](size_t i) -> const cost::Cost& { return single.Choices()[i].cost; };
    if (!best || Context().scale.Prefers(cost(choice), cost(*best))) best = choice;
  }
  return best;
}

std::optional<Selection> PathSearch::FindKnown() const {
  std::vector<Arc> arcs = arcs_.Known(effort_.Scope());
  PathLook look = NewLook();
  std::optional<Path> path = arcs_.FindBest(arcs, look);
  if (!path && look.IsOpen()) {
    arcs = arcs_.BestSingles(effort_.Scope());
    PathLook unlimited;
    path = arcs_.FindBest(arcs, unlimited);
  }
  if (!path) return std::nullopt;
  return arcs_.SelectionOf(*path);
}

// The choices without change relative to the previous plan form at most one path.
std::optional<Selection> PathSearch::FindPrevious() {
  const choices::PreviousPlan* previous = Context().previous;
  if (previous == nullptr) return std::nullopt;
  std::vector<size_t> intervals;
  Tasks tasks;
  for (const LatticeInterval& interval : lattice_.Intervals()) {
    const choices::IntervalChoices& choices = interval.choices;
    if (interval.order != 0 || !interval.is_allowed ||
        previous->LeastChange(choices.Interval(), choices.Kept()) > 0)
      continue;
    intervals.push_back(interval.index);
    tasks.emplace_back([this, index = interval.index] {
      const base::Stop& stop = Context().stop;
      choices::IntervalChoices& there = ChoicesAt(index);
      if (!there.IsExpanded() && !stop.Requested()) there.Expand(stop);
      if (!there.IsFormulated() && !stop.Requested()) there.Formulate(stop);
      for (size_t i = 0; i < there.Choices().size() && !stop.Requested(); ++i) {
        if (there.Choices()[i].cost.change == 0) there.Decide(i, stop);
      }
    });
  }
  effort_.AddWork(RunOn(intervals, tasks));
  if (Context().stop.Requested()) DecideAsBefore(intervals);
  std::vector<Arc> arcs = arcs_.Known(effort_.Scope());
  std::erase_if(arcs, [](const Arc& arc) { return arc.cost.change > 0; });
  PathLook unlimited;
  const std::optional<Path> path = arcs_.FindBest(arcs, unlimited);
  if (!path) return std::nullopt;
  return arcs_.SelectionOf(*path);
}

// Decides by the placement in the previous plan, which needs no engine. For use after a stop; after
// an interrupt only within kAfterInterrupt.
void PathSearch::DecideAsBefore(const std::vector<size_t>& intervals) {
  const auto is_too_late = [this] {
    const auto interrupted = Context().stop.InterruptedAt();
    return interrupted && base::Stop::Clock::now() > *interrupted + kAfterInterrupt;
  };
  Tasks tasks;
  for (const size_t index : intervals) {
    tasks.emplace_back([this, &is_too_late, index] {
      const std::span<const choices::Choice> known = ChoicesAt(index).Choices();
      const bool fits = std::any_of(known.begin(), known.end(), [](const choices::Choice& choice) {
        return choice.cost.change == 0 && choice.verdict == choices::ChoiceStatus::kFits;
      });
      if (!fits && !is_too_late()) ChoicesAt(index).ExpandAsBefore();
    });
  }
  effort_.AddWork(RunOn(intervals, tasks));
}

orders::Order PathSearch::OrderOf(const Selection& selection) const {
  orders::Order all;
  for (const Selected& subgraph : selection.subgraphs) {
    const orders::Order operators = lattice_.OperatorsOf(*subgraph.interval);
    all.insert(all.end(), operators.begin(), operators.end());
  }
  return all;
}

void PathSearch::FormulateRefused(const Selection& selection, size_t most) {
  Tasks tasks;
  for (const Selected& subgraph : selection.subgraphs) {
    tasks.emplace_back([this, subgraph, most] {
      choices::IntervalChoices& choices = ChoicesAt(subgraph.interval->index);
      if (!Context().stop.Requested()) choices.TryAll(kMostLarger);
      choices.FormulateRefused(subgraph.index, most);
    });
  }
  Run(tasks);
}

}  // namespace tessera::search::partition::paths

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <optional>

#include "tessera/search/partition/paths/path_search.h"

// The parts of a path search that do not step towards the best path: single operators, of which
// each is decided until its best choice fits, none is left, or too many tile shapes were added; and
// what is made of the knowledge at the end.
namespace tessera::search::partition::paths {
namespace {

// Limit on tile shapes that are considered to prove that a tile of the best selection is the
// largest.
constexpr size_t kMostLarger = 128;

// Intervals that are examined between two looks at what limits the work, on any number of threads.
constexpr size_t kTogether = 4;

// How long an interrupt waits for the layer-by-layer plan.
constexpr base::Stop::Clock::duration kAfterInterrupt = std::chrono::milliseconds(80);

}  // namespace

void PathSearch::FormulateSingles(const base::Stop& stop) {
  std::vector<size_t> open = lattice_.Singles();
  std::erase_if(open, [this](size_t index) { return ChoicesAt(index).IsFormulated(); });
  const size_t together = effort_.HasWorkLimit() ? kTogether : open.size();
  for (size_t first = 0; first < open.size() && !effort_.IsCutShort(); first += together) {
    const auto some = std::span(open).subspan(first, std::min(together, open.size() - first));
    Tasks tasks;
    for (const size_t index : some) {
      choices::IntervalChoices& single = ChoicesAt(index);
      tasks.emplace_back([&single, &stop] {
        if (stop.Requested()) return;
        if (!single.IsExpanded()) single.Expand(stop);
        single.Formulate(stop);
      });
    }
    effort_.AddWork(RunOn(some, tasks));
  }
}

bool PathSearch::DecideSingles(const base::Stop& stop) {
  FormulateSingles(stop);
  const std::vector<size_t> singles = lattice_.Singles();
  bool all_formulated = true;
  Tasks tasks;
  for (const size_t index : singles) {
    choices::IntervalChoices& single = ChoicesAt(index);
    all_formulated = all_formulated && single.IsFormulated();
    if (!single.IsFormulated()) continue;
    tasks.emplace_back([this, &single, &stop] {
      const bool had_every_axis = single.HasEveryAxis();
      while (!stop.Requested()) {
        const std::optional<size_t> best = BestSingle(single);
        if (best && single.Choices()[*best].verdict == choices::ChoiceStatus::kFits) return;
        if (best) {
          single.Decide(*best, stop);
        } else if (single.HasEveryAxis() != had_every_axis ||
                   single.Choices().size() > kMostExtended || single.Extend(kExtension) == 0) {
          return;
        }
      }
    });
  }
  RunOn(singles, tasks);
  const bool decided = all_formulated && !has_hurried_ && !stop.Requested();
  Report();
  return decided;
}

// If one does not fit, the others are of no use. A deadline waits for a layer-by-layer plan; an
// interrupt only for a moment.
void PathSearch::DecideSinglesInHaste() {
  using Clock = base::Stop::Clock;
  std::optional<Clock::time_point> interrupted;
  const auto fits = [this](size_t index) {
    const std::span<const choices::Choice> known = ChoicesAt(index).Choices();
    return std::any_of(known.begin(), known.end(), [](const choices::Choice& choice) {
      return choice.verdict == choices::ChoiceStatus::kFits;
    });
  };
  std::vector<size_t> open = lattice_.Singles();
  std::erase_if(open, fits);
  has_hurried_ = has_hurried_ || !open.empty();
  for (size_t first = 0; first < open.size(); first += kTogether) {
    const auto some = std::span(open).subspan(first, std::min(kTogether, open.size() - first));
    Tasks tasks;
    for (const size_t index : some)
      tasks.emplace_back([&single = ChoicesAt(index)] { single.ExpandInHaste(); });
    RunOn(some, tasks);
    if (!std::all_of(some.begin(), some.end(), fits)) return;
    if (!Context().stop.IsInterrupted()) continue;
    if (!interrupted) interrupted = Clock::now();
    if (Clock::now() - *interrupted > kAfterInterrupt) return;
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
  std::vector<Arc> arcs = arcs_.Known(effort_.GetReach());
  PathLook look = PathLook::For(Context().scale, Context().stop);
  std::optional<Path> path = arcs_.FindBest(arcs, look);
  if (!path && look.IsCutShort()) {
    arcs = arcs_.BestSingles(effort_.GetReach());
    PathLook unlimited;
    path = arcs_.FindBest(arcs, unlimited);
  }
  if (!path) return std::nullopt;
  return arcs_.SelectionOf(*path);
}

// Choices that change nothing relative to the previous plan form at most one path.
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
  std::vector<Arc> arcs = arcs_.Known(effort_.GetReach());
  std::erase_if(arcs, [](const Arc& arc) { return arc.cost.change > 0; });
  PathLook look = PathLook::For(Context().scale, Context().stop);
  const std::optional<Path> path = arcs_.FindBest(arcs, look);
  if (!path) return std::nullopt;
  return arcs_.SelectionOf(*path);
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

#include "tessera/search/partition/path_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>

namespace tessera::search {
namespace {

// The one arc of an interval that is only bounded.
constexpr size_t kBounded = std::numeric_limits<size_t>::max();

}  // namespace

PathSearch::PathSearch(const Planning& planning, int operators, int most, int threads,
                       std::function<void(std::string_view)> progress)
    : planning_(&planning),
      operators_(operators),
      most_(std::min(most, operators)),
      threads_(std::max(1, threads)),
      progress_(std::move(progress)) {
  for (int first = 0; first < operators_; ++first) {
    for (int length = 1; length <= std::min(most_, operators_ - first); ++length) {
      intervals_.emplace_back(planning, graph::Interval{first, first + length - 1});
    }
  }
  kept_.resize(intervals_.size());
}

size_t PathSearch::IndexOf(int first, int length) const {
  // Operators before `first` begin most_ intervals each, but for those too near the end.
  const int full = std::max(0, std::min(first, operators_ - most_ + 1));
  int64_t index = int64_t{full} * most_;
  for (int begin = full; begin < first; ++begin) index += operators_ - begin;
  return static_cast<size_t>(index + length - 1);
}

void PathSearch::AppendArcs(size_t interval, std::vector<Arc>& arcs) const {
  const IntervalChoices& choices = intervals_[interval];
  Arc arc{.begin = choices.Interval().first,
          .end = choices.Interval().last + 1,
          .choice = kBounded,
          .cost = choices.Bound()};
  if (!choices.IsOpened()) {
    arcs.push_back(arc);
    return;
  }
  for (const size_t choice : choices.Front(kept_[interval])) {
    arc.choice = choice;
    arc.cost = choices.Choices()[choice].cost;
    arcs.push_back(arc);
  }
}

std::vector<Arc> PathSearch::CurrentArcs() const {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < intervals_.size(); ++i) AppendArcs(i, arcs);
  return arcs;
}

Selection PathSearch::SelectionOf(const Path& path, std::span<const Arc> arcs) const {
  Selection selection;
  selection.cost = path.cost;
  for (const size_t index : path.arcs) {
    const Arc& arc = arcs[index];
    selection.intervals.push_back(&intervals_[IndexOf(arc.begin, arc.end - arc.begin)]);
    selection.choices.push_back(arc.choice);
  }
  return selection;
}

std::optional<Selection> PathSearch::FindBest() {
  while (!planning_->stop.Requested()) {
    const std::vector<Arc> arcs = CurrentArcs();
    const std::optional<Path> path = FindBestPath(planning_->scale, operators_, arcs, forbidden_);
    if (!path) return std::nullopt;
    std::vector<std::function<void()>> openings;
    std::vector<std::function<void()>> decisions;
    for (const size_t index : path->arcs) {
      const Arc& arc = arcs[index];
      IntervalChoices& choices = intervals_[IndexOf(arc.begin, arc.end - arc.begin)];
      if (arc.choice == kBounded) {
        openings.emplace_back([&choices] { choices.Open(); });
      } else if (choices.Choices()[arc.choice].verdict == Verdict::kOpen) {
        decisions.emplace_back([&choices, choice = arc.choice] { choices.Decide(choice); });
      }
    }
    if (openings.empty() && decisions.empty()) return SelectionOf(*path, arcs);
    Run(openings.empty() ? decisions : openings);
    Report();
  }
  return std::nullopt;
}

std::optional<Selection> PathSearch::FindKnown() const {
  std::vector<Arc> arcs;
  for (const IntervalChoices& interval : intervals_) {
    for (size_t i = 0; i < interval.Choices().size(); ++i) {
      const Choice& choice = interval.Choices()[i];
      if (choice.verdict != Verdict::kFits) continue;
      arcs.push_back({interval.Interval().first, interval.Interval().last + 1, i, choice.cost});
    }
  }
  const std::optional<Path> path = FindBestPath(planning_->scale, operators_, arcs, forbidden_);
  if (!path) return std::nullopt;
  return SelectionOf(*path, arcs);
}

void PathSearch::Forbid(const Selection& selection) {
  Forbidden forbidden;
  for (size_t i = 0; i < selection.intervals.size(); ++i) {
    const graph::Interval interval = selection.intervals[i]->Interval();
    forbidden.push_back({interval.first, interval.last + 1, selection.choices[i], {}});
    std::vector<size_t>& kept = kept_[IndexOf(interval.first, interval.last - interval.first + 1)];
    if (std::find(kept.begin(), kept.end(), selection.choices[i]) == kept.end())
      kept.push_back(selection.choices[i]);
  }
  forbidden_.push_back(std::move(forbidden));
}

void PathSearch::DecideSingles() {
  std::vector<std::function<void()>> tasks;
  for (int op = 0; op < operators_; ++op) {
    IntervalChoices& single = intervals_[IndexOf(op, 1)];
    tasks.emplace_back([this, &single] {
      if (!single.IsOpened()) single.Open();
      while (!planning_->stop.Requested()) {
        const std::optional<size_t> best = BestSingle(single);
        if (!best || single.Choices()[*best].verdict == Verdict::kFits) return;
        single.Decide(*best);
      }
    });
  }
  Run(tasks);
}

std::optional<size_t> PathSearch::BestSingle(const IntervalChoices& single) const {
  std::optional<size_t> best;
  for (const size_t choice : single.Front({})) {
    const auto score = [&](size_t i) { return planning_->scale.ScoreOf(single.Choices()[i].cost); };
    if (!best || score(choice) < score(*best)) best = choice;
  }
  return best;
}

bool PathSearch::AnyGivenUp() const {
  return std::any_of(intervals_.begin(), intervals_.end(),
                     [](const IntervalChoices& i) { return i.AnyGivenUp(); });
}

int64_t PathSearch::Opened() const {
  return std::count_if(intervals_.begin(), intervals_.end(),
                       [](const IntervalChoices& i) { return i.IsOpened(); });
}

int64_t PathSearch::Solves() const {
  int64_t solves = 0;
  for (const IntervalChoices& interval : intervals_) solves += interval.Solves();
  return solves;
}

void PathSearch::Run(std::span<const std::function<void()>> tasks) const {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(static_cast<size_t>(threads_), tasks.size()); ++i)
    others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

void PathSearch::Report() const {
  if (!progress_) return;
  progress_(fmt::format("{} of {} intervals opened, {} questions put to engines", Opened(), intervals_.size(),
                        Solves()));
}

}  // namespace tessera::search

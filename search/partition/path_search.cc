#include "tessera/search/partition/path_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <thread>
#include <tuple>
#include <utility>

#include "tessera/search/simulate/subgraph_bounds.h"

namespace tessera::search {
namespace {

Order OrderGiven(const graph::Graph& graph) {
  Order order(graph.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<Order> OrdersOf(std::span<const Ordered> all) {
  std::vector<Order> orders;
  for (const Ordered& each : all) orders.push_back(each.order);
  return orders;
}

// The one arc of an interval that is only bounded.
constexpr size_t kBounded = std::numeric_limits<size_t>::max();

// Tile shapes that are added where nothing fits: to an interval at once, and in all.
constexpr size_t kExtension = 512;
constexpr size_t kMostExtended = 16384;

// Arcs that a look for a path passes in the time that one tile shape of one operator takes.
constexpr int64_t kArcsForOne = 32;

// Forbidden selections of searches before, the last of them, which leave room for those of this one.
constexpr size_t kMostTakenOver = 8;

}  // namespace

PathSearch::PathSearch(const Planning& planning, const CutStates& states, const Demands& demands,
                       const Reach& reach, int threads, std::function<void(std::string_view)> progress)
    : PathSearch(std::vector<Ordered>{{&planning, &states, &demands, OrderGiven(planning.graph)}}, reach, {},
                 threads, std::move(progress), {}) {}

PathSearch::PathSearch(std::span<const Ordered> orders, const Reach& reach, const Besides& besides,
                       int threads, std::function<void(std::string_view)> progress,
                       std::span<PathSearch* const> before)
    : orders_(orders.begin(), orders.end()),
      planning_(orders_.front().planning),
      demands_(orders_.front().demands),
      operators_(static_cast<int>(planning_->graph.operators.size())),
      lattice_(OrdersOf(orders)),
      most_(std::min(reach.most_operators, operators_)),
      lengths_(std::max(most_, demands_->Inseparable({0, operators_ - 1}))),
      longest_(most_),
      allowance_(reach.effort),
      threads_(std::max(1, threads)),
      progress_(std::move(progress)) {
  NumberStates();
  AddIntervals(besides);
  kept_.resize(intervals_.size());
  arcs_.resize(intervals_.size());
  bounded_.resize(intervals_.size());
  given_away_.resize(intervals_.size());
  for (PathSearch* search : before) TakeOver(*search);
  if (!before.empty()) TakeReach(*before.front());
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
}

// Orders that meet at a cut can keep the same there.
void PathSearch::NumberStates() {
  std::vector<int> count(static_cast<size_t>(lattice_.Cuts()));
  for (size_t order = 0; order < orders_.size(); ++order) {
    const CutStates& states = *orders_[order].states;
    caps_kept_ = caps_kept_ || states.IsCapped();
    for (int position = 0; position <= operators_; ++position)
      count[static_cast<size_t>(lattice_.CutAt(order, position))] = states.CountAt(position);
  }
  int states = 0;
  for (const int at_cut : count) {
    first_state_.push_back(states);
    states += at_cut;
  }
  last_state_ = states - 1;
}

void PathSearch::AddIntervals(const Besides& besides) {
  for (int first = 0; first < operators_; ++first) {
    for (int length = 1; length <= std::min(lengths_, operators_ - first); ++length) {
      crossings_.push_back(intervals_.size());
      AddInterval(0, {first, first + length - 1});
    }
  }
  if (orders_.size() == 1) return;
  DistinctIntervals distinct(lattice_, besides.alike);
  distinct.Take(0, lengths_);
  const int most =
      std::max(std::min(besides.most_operators, most_), demands_->Inseparable({0, operators_ - 1}));
  const size_t room = intervals_.size() + besides.most_intervals;
  for (size_t order = 1; order < orders_.size() && has_all_orders_; ++order) {
    for (const graph::Interval interval : distinct.Take(order, most)) AddInterval(order, interval);
    has_all_orders_ = intervals_.size() <= room;
  }
}

void PathSearch::AddInterval(size_t order, graph::Interval interval) {
  const Planning* planning = orders_[order].planning;
  const CutStates* states = orders_[order].states;
  const Demands* demands = orders_[order].demands;
  const int length = interval.last - interval.first + 1;
  const bool allowed = length <= std::max(most_, demands->Inseparable(interval)) && demands->Allow(interval);
  if (!allowed && (length > 1 || order > 0)) return;
  const bool is_open = demands->WayOf(interval) == nullptr &&
                       demands->PinsOf(interval, 0, planning->TileMemory().name).empty();
  const auto state_at = [&](int position, int state) {
    return first_state_[static_cast<size_t>(lattice_.CutAt(order, position))] + state -
           states->FirstAt(position);
  };
  const auto add = [&](const Crossing& crossing, bool is_allowed) {
    intervals_.emplace_back(*planning, interval, crossing.kept, is_allowed ? demands : nullptr);
    order_of_.push_back(order);
    allowed_.push_back(is_allowed ? 1 : 0);
    states_.emplace_back(state_at(interval.first, crossing.begin), state_at(interval.last + 1, crossing.end));
    could_keep_ = could_keep_ || (is_allowed && !demands->AreAllOf(crossing.kept));
  };
  for (const Crossing& crossing : states->CrossingsOf(interval)) {
    const bool may_be_chosen = allowed && demands->Allow(interval, crossing.kept);
    const bool in_baseline = order == 0 && length == 1 && crossing.kept.empty();
    if (in_baseline && !(may_be_chosen && is_open)) add(crossing, false);
    if (may_be_chosen) add(crossing, true);
  }
}

// Intervals are one if they begin at one cut, have the same operators in the same order, and keep the same.
std::vector<std::optional<size_t>> PathSearch::FindHere(const PathSearch& before) const {
  const auto end_of_group = [](const PathSearch& search, size_t begin) {
    size_t end = begin + 1;
    while (end < search.intervals_.size() && search.order_of_[end] == search.order_of_[begin] &&
           search.intervals_[end].Interval() == search.intervals_[begin].Interval())
      ++end;
    return end;
  };
  const auto operators_of = [](const PathSearch& search, size_t i) {
    const Order& order = search.orders_[search.order_of_[i]].order;
    const auto [first, last] = search.intervals_[i].Interval();
    return Order(order.begin() + first, order.begin() + last + 1);
  };
  std::map<std::pair<int, Order>, size_t> groups;  // by cut and operators: the first interval
  for (size_t i = 0; i < intervals_.size(); i = end_of_group(*this, i)) {
    const int cut = lattice_.CutAt(order_of_[i], intervals_[i].Interval().first);
    groups.emplace(std::pair(cut, operators_of(*this, i)), i);
  }
  const std::vector<int> cuts = lattice_.CutsOf(before.lattice_);
  std::vector<std::optional<size_t>> here(before.intervals_.size());
  for (size_t i = 0; i < here.size();) {
    const size_t end = end_of_group(before, i);
    const int cut = cuts[static_cast<size_t>(
        before.lattice_.CutAt(before.order_of_[i], before.intervals_[i].Interval().first))];
    const auto group = groups.find(std::pair(cut, operators_of(before, i)));
    for (; i < end; ++i) {
      if (group == groups.end()) continue;
      for (size_t j = group->second; j < end_of_group(*this, group->second); ++j) {
        if (allowed_[j] == before.allowed_[i] && intervals_[j].Kept() == before.intervals_[i].Kept())
          here[i] = j;
      }
    }
  }
  return here;
}

void PathSearch::TakeOver(PathSearch& before) {
  const std::vector<std::optional<size_t>> here = FindHere(before);
  for (size_t i = 0; i < here.size(); ++i) {
    if (!here[i] || before.given_away_[i] != 0) continue;
    before.given_away_[i] = 1;
    const graph::Interval interval = before.intervals_[i].Interval();
    IntervalChoices untold(*orders_[order_of_[*here[i]]].planning, interval, before.intervals_[i].Kept());
    intervals_[*here[i]] = std::exchange(before.intervals_[i], std::move(untold));
    bounded_[*here[i]] = before.bounded_[i];
    kept_[*here[i]] = std::move(before.kept_[i]);
  }
  for (Forbidden forbidden : before.forbidden_) {
    const bool is_here = std::all_of(forbidden.begin(), forbidden.end(),
                                     [&here](const Arc& arc) { return here[arc.interval].has_value(); });
    if (!is_here) continue;
    for (Arc& arc : forbidden) {
      const size_t choice = arc.choice;
      arc = ArcOf(intervals_[*here[arc.interval]]);
      arc.choice = choice;
    }
    const auto same = [&forbidden](const Forbidden& other) {
      return std::equal(
          forbidden.begin(), forbidden.end(), other.begin(), other.end(),
          [](const Arc& a, const Arc& b) { return a.interval == b.interval && a.choice == b.choice; });
    };
    if (std::none_of(forbidden_.begin(), forbidden_.end(), same)) forbidden_.push_back(std::move(forbidden));
  }
  if (forbidden_.size() > kMostTakenOver)
    forbidden_.erase(forbidden_.begin(), forbidden_.end() - static_cast<std::ptrdiff_t>(kMostTakenOver));
}

void PathSearch::TakeReach(const PathSearch& before) {
  longest_ = std::min(most_, before.longest_);
  looks_at_kept_ = before.looks_at_kept_;
  may_keep_ = before.may_keep_;
  extended_ = before.extended_;
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
        if (planning_->stop.Requested()) return;
        const Planning& planning = *orders_[order_of_[begin]].planning;
        const SubgraphBounds bounds(planning.graph, planning.profile, planning.simulator.Usages(),
                                    intervals_[begin].Interval());
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
  for (size_t i = 0; i < intervals_.size(); ++i) Refresh(i);
}

Order PathSearch::OrderOf(const Selection& selection) const {
  Order all;
  for (const IntervalChoices* interval : selection.intervals) {
    const Order& order = orders_[order_of_[IndexOf(*interval)]].order;
    all.insert(all.end(), order.begin() + interval->Interval().first,
               order.begin() + interval->Interval().last + 1);
  }
  return all;
}

size_t PathSearch::PlaceOf(int first, int length) const {
  // Operators before `first` begin lengths_ intervals each, but for those too near the end.
  const int full = std::max(0, std::min(first, operators_ - lengths_ + 1));
  int64_t index = int64_t{full} * lengths_;
  for (int begin = full; begin < first; ++begin) index += operators_ - begin;
  return static_cast<size_t>(index + length - 1);
}

size_t PathSearch::IndexOf(const IntervalChoices& interval) const {
  return static_cast<size_t>(&interval - intervals_.data());
}

std::span<const IntervalChoices> PathSearch::Crossings(int first, int length) const {
  const size_t place = PlaceOf(first, length);
  const size_t end = place + 1 < crossings_.size() ? crossings_[place + 1] : intervals_.size();
  return std::span(intervals_).subspan(crossings_[place], end - crossings_[place]);
}

Arc PathSearch::ArcOf(const IntervalChoices& interval) const {
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
  const IntervalChoices& choices = intervals_[interval];
  std::vector<Arc>& arcs = arcs_[interval];
  arcs.clear();
  if (!InReach(choices)) return;
  Arc arc = ArcOf(choices);
  arc.cost = choices.Bound();
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
  for (const std::vector<Arc>& each : arcs_) arcs.insert(arcs.end(), each.begin(), each.end());
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

std::optional<Selection> PathSearch::FindBest() {
  while (!planning_->stop.Requested()) {
    const std::vector<Arc> arcs = CurrentArcs();
    const std::optional<Path> path = FindBestPath(planning_->scale, last_state_, arcs, forbidden_);
    if (!path) {
      if (!Widen() && !Extend()) return std::nullopt;
      continue;
    }
    work_ += static_cast<int64_t>(arcs.size()) / kArcsForOne;
    if (auto selection = Confirm(*path, arcs)) return selection;
    if (allowance_ && effort_ > *allowance_) DrawBack();
  }
  return std::nullopt;
}

std::optional<Selection> PathSearch::FindBelow(double score, int64_t effort) {
  effort_ = 0;
  while (!planning_->stop.Requested() && !has_spent_) {
    const std::vector<Arc> arcs = CurrentArcs();
    const std::optional<Path> path = FindBestPath(planning_->scale, last_state_, arcs, forbidden_);
    if (path && planning_->scale.ScoreOf(path->cost) >= score) return std::nullopt;
    if (!path) {
      if (!Widen() && !Extend()) return std::nullopt;
    } else if (auto selection = Confirm(*path, arcs)) {
      return selection;
    }
    effort_ += static_cast<int64_t>(arcs.size()) / kArcsForOne;
    work_ += static_cast<int64_t>(arcs.size()) / kArcsForOne;
    has_spent_ = effort_ > effort;
  }
  return std::nullopt;
}

// The path if all of it is known to fit; else finds out the next thing about it.
std::optional<Selection> PathSearch::Confirm(const Path& path, std::span<const Arc> arcs) {
  Tasks openings;
  Tasks posings;
  Tasks decisions;
  for (const size_t index : path.arcs) {
    const Arc& arc = arcs[index];
    IntervalChoices& choices = intervals_[arc.interval];
    if (arc.choice == kBounded) {
      openings.emplace_back([&choices] { choices.Open(); });
    } else if (!choices.IsPosed()) {
      posings.emplace_back([&choices] { choices.Pose(); });
    } else if (choices.Choices()[arc.choice].verdict == Verdict::kOpen) {
      decisions.emplace_back([&choices, choice = arc.choice] { choices.Decide(choice); });
    }
  }
  const Tasks& next = !openings.empty() ? openings : !posings.empty() ? posings : decisions;
  if (next.empty()) return SelectionOf(path, arcs);
  const int64_t before = EffortOn(path, arcs);
  Run(next);
  const int64_t effort = EffortOn(path, arcs) - before;
  effort_ += effort;
  work_ += effort;
  for (const size_t index : path.arcs) Refresh(arcs[index].interval);
  Report();
  return std::nullopt;
}

bool PathSearch::InReach(const IntervalChoices& interval) const {
  const graph::Interval operators = interval.Interval();
  if (!IsAllowed(interval)) return false;
  const int inseparable = DemandsOf(IndexOf(interval)).Inseparable(operators);
  if (operators.last - operators.first >= std::max(longest_, inseparable)) return false;
  return IsAtHome(interval) || (may_keep_ && looks_at_kept_);
}

int64_t PathSearch::EffortOn(const Path& path, std::span<const Arc> arcs) const {
  int64_t effort = 0;
  for (const size_t index : path.arcs) effort += intervals_[arcs[index].interval].Effort();
  return effort;
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

// Gives the shortest opened intervals that have further tile shapes some of them; false when there are none, or enough.
bool PathSearch::Extend() {
  for (int length = 1; length <= lengths_; ++length) {
    size_t added = 0;
    for (size_t i = 0; i < intervals_.size(); ++i) {
      const graph::Interval operators = intervals_[i].Interval();
      if (operators.last - operators.first + 1 != length || allowed_[i] == 0) continue;
      if (planning_->stop.Requested() || extended_ >= kMostExtended) return added > 0;
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
  std::vector<Arc> arcs = CurrentArcs();
  for (const IntervalChoices& interval : intervals_) {
    if (!interval.IsOpened() || interval.IsComplete() || !InReach(interval)) continue;
    arcs.push_back(ArcOf(interval));
    arcs.back().cost = interval.Bound();
  }
  const std::optional<Path> path = FindBestPath(planning_->scale, last_state_, arcs, forbidden_);
  return path && planning_->scale.ScoreOf(path->cost) < score;
}

std::optional<Selection> PathSearch::FindKnown() const {
  std::vector<Arc> arcs;
  for (const IntervalChoices& interval : intervals_) {
    if (!IsAllowed(interval) || (!may_keep_ && !IsAtHome(interval))) continue;
    Arc arc = ArcOf(interval);
    for (arc.choice = 0; arc.choice < interval.Choices().size(); ++arc.choice) {
      const Choice& choice = interval.Choices()[arc.choice];
      if (choice.verdict != Verdict::kFits) continue;
      arc.cost = choice.cost;
      arcs.push_back(arc);
    }
  }
  const std::optional<Path> path = FindBestPath(planning_->scale, last_state_, arcs, forbidden_);
  if (!path) return std::nullopt;
  return SelectionOf(*path, arcs);
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

void PathSearch::PoseSingles() {
  Tasks tasks;
  for (int op = 0; op < operators_; ++op) {
    IntervalChoices& single = SingleAt(op);
    if (single.IsPosed()) continue;
    tasks.emplace_back([this, &single] {
      if (planning_->stop.Requested()) return;
      if (!single.IsOpened()) single.Open();
      single.Pose();
    });
  }
  Run(tasks);
  for (int op = 0; op < operators_; ++op) Refresh(IndexOf(SingleAt(op)));
}

void PathSearch::DecideSingles() {
  PoseSingles();
  Tasks tasks;
  for (int op = 0; op < operators_; ++op) {
    IntervalChoices& single = SingleAt(op);
    tasks.emplace_back([this, &single] {
      while (!planning_->stop.Requested()) {
        const std::optional<size_t> best = BestSingle(single);
        if (best && single.Choices()[*best].verdict == Verdict::kFits) return;
        if (best) {
          single.Decide(*best);
        } else if (single.Choices().size() > kMostExtended || single.Extend(kExtension) == 0) {
          return;
        }
      }
    });
  }
  Run(tasks);
  for (int op = 0; op < operators_; ++op) Refresh(IndexOf(SingleAt(op)));
  Report();
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
                     [this](const IntervalChoices& i) { return IsAllowed(i) && i.AnyGivenUp(); });
}

int64_t PathSearch::Opened() const {
  return std::count_if(intervals_.begin(), intervals_.end(),
                       [](const IntervalChoices& i) { return i.IsOpened(); });
}

int64_t PathSearch::Posed() const {
  return std::count_if(intervals_.begin(), intervals_.end(),
                       [](const IntervalChoices& i) { return i.IsPosed(); });
}

int64_t PathSearch::Solves() const {
  int64_t solves = 0;
  for (const IntervalChoices& interval : intervals_) solves += interval.Solves();
  return solves;
}

void PathSearch::Run(const Tasks& tasks) const {
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
  progress_(fmt::format("{} of {} intervals opened, {} posed, {} questions put to engines", Opened(),
                        intervals_.size(), Posed(), Solves()));
}

}  // namespace tessera::search

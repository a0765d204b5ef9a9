#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/search/partition/paths/path_search.h"

// The parts of a path search that several orders share: states, intervals, and the results of
// earlier searches.
namespace tessera::search::partition::paths {

namespace {

// Forbidden selections of searches before, the last of them, which leave room for those of this
// one.
constexpr size_t kMostTakenOver = 8;

}  // namespace

// Orders that meet at a cut can keep the same tensors there.
void PathSearch::NumberStates() {
  std::vector<int> count(static_cast<size_t>(lattice_.Cuts()));
  for (size_t order = 0; order < orders_.size(); ++order) {
    const CutStates& states = *orders_[order].states;
    caps_kept_ = caps_kept_ || states.IsCapped();
    spills_all_ = spills_all_ || states.SpillsAll();
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

void PathSearch::AddIntervals(const OtherOrderLimits& other_limits) {
  for (int first = 0; first < operators_; ++first) {
    for (int length = 1; length <= std::min(lengths_, operators_ - first); ++length) {
      crossings_.push_back(intervals_.size());
      leaves_out_ = leaves_out_ || (length > 1 && context_->stop.Requested());
      if (length > 1 && leaves_out_) continue;
      AddInterval(0, {first, first + length - 1});
    }
  }
  if (orders_.size() == 1) return;
  DistinctIntervals distinct(lattice_, other_limits.alike);
  distinct.Take(0, lengths_);
  const int most = std::max(std::min(other_limits.most_operators, most_),
                            constraints_->Inseparable({0, operators_ - 1}));
  const size_t room = intervals_.size() + other_limits.most_intervals;
  for (size_t order = 1; order < orders_.size() && has_all_orders_; ++order) {
    if (context_->stop.Requested()) leaves_out_ = true;
    has_all_orders_ = !leaves_out_;
    if (leaves_out_) break;
    for (const graph::Interval interval : distinct.Take(order, most)) AddInterval(order, interval);
    has_all_orders_ = intervals_.size() <= room;
  }
}

void PathSearch::AddInterval(size_t order, graph::Interval interval) {
  const choices::SearchContext* context = orders_[order].context;
  const CutStates* states = orders_[order].states;
  const constraints::PlanConstraints* constraints = orders_[order].constraints;
  const int length = interval.last - interval.first + 1;
  const bool allowed =
      length <= std::max(most_, constraints->Inseparable(interval)) && constraints->Allow(interval);
  if (!allowed && (length > 1 || order > 0)) return;
  const bool is_open = constraints->ConfigOf(interval) == nullptr &&
                       constraints->PinsOf(interval, 0, context->TileMemory().name).empty();
  const auto state_at = [&](int position, int state) {
    return first_state_[static_cast<size_t>(lattice_.CutAt(order, position))] + state -
           states->FirstAt(position);
  };
  const auto add = [&](const Crossing& crossing, bool is_allowed) {
    intervals_.emplace_back(*context, interval, crossing.kept, is_allowed ? constraints : nullptr);
    order_of_.push_back(order);
    allowed_.push_back(is_allowed ? 1 : 0);
    states_.emplace_back(state_at(interval.first, crossing.begin),
                         state_at(interval.last + 1, crossing.end));
    could_keep_ = could_keep_ || (is_allowed && !constraints->AreAllOf(crossing.kept));
  };
  const encoder::program::HomeRoom& homes = *orders_[order].homes;
  for (const Crossing& crossing : states->CrossingsOf(interval)) {
    const bool may_be_chosen = allowed && constraints->Allow(interval, crossing.kept) &&
                               !homes.FindOverflow(interval, crossing.kept);
    const bool in_baseline = order == 0 && length == 1 && crossing.kept.empty();
    if (in_baseline && !(may_be_chosen && is_open)) add(crossing, false);
    if (may_be_chosen) add(crossing, true);
  }
}

// Intervals are one if their orders are of one kind, they begin at one cut, have the same operators
// in the same order, and keep the same.
std::vector<std::optional<size_t>> PathSearch::FindHere(const PathSearch& before) const {
  const auto end_of_group = [](const PathSearch& search, size_t begin) {
    size_t end = begin + 1;
    while (end < search.intervals_.size() && search.order_of_[end] == search.order_of_[begin] &&
           search.intervals_[end].Interval() == search.intervals_[begin].Interval())
      ++end;
    return end;
  };
  const auto operators_of = [](const PathSearch& search, size_t i) {
    const orders::Order& order = search.orders_[search.order_of_[i]].order;
    const auto [first, last] = search.intervals_[i].Interval();
    return orders::Order(order.begin() + first, order.begin() + last + 1);
  };
  const auto kind_of = [](const PathSearch& search, size_t i) {
    return search.lattice_.KindOf(search.order_of_[i]);
  };
  std::map<std::tuple<OrderLattice::Kind, int, orders::Order>, size_t>
      groups;  // of intervals: the first
  for (size_t i = 0; i < intervals_.size(); i = end_of_group(*this, i)) {
    const int cut = lattice_.CutAt(order_of_[i], intervals_[i].Interval().first);
    groups.emplace(std::tuple(kind_of(*this, i), cut, operators_of(*this, i)), i);
  }
  const std::vector<int> cuts = lattice_.CutsOf(before.lattice_);
  std::vector<std::optional<size_t>> here(before.intervals_.size());
  for (size_t i = 0; i < here.size();) {
    const size_t end = end_of_group(before, i);
    const int cut = cuts[static_cast<size_t>(
        before.lattice_.CutAt(before.order_of_[i], before.intervals_[i].Interval().first))];
    const auto group = groups.find(std::tuple(kind_of(before, i), cut, operators_of(before, i)));
    if (group == groups.end()) {
      i = end;
      continue;
    }
    // Mostly both have the same crossings in the same order: each is looked for behind the one
    // before.
    const size_t first = group->second;
    const size_t crossings = end_of_group(*this, first) - first;
    size_t next = 0;
    for (; i < end; ++i) {
      for (size_t step = 0; step < crossings && !here[i]; ++step) {
        const size_t j = first + (next + step) % crossings;
        if (allowed_[j] == before.allowed_[i] &&
            intervals_[j].Kept() == before.intervals_[i].Kept())
          here[i] = j;
      }
      if (here[i]) next = *here[i] - first + 1;
    }
  }
  return here;
}

void PathSearch::TakeOver(PathSearch& before) {
  const std::vector<std::optional<size_t>> here = FindHere(before);
  std::vector<size_t> taken;
  for (size_t i = 0; i < here.size(); ++i) {
    if (!here[i] || before.given_away_[i] != 0) continue;
    before.given_away_[i] = 1;
    const graph::Interval interval = before.intervals_[i].Interval();
    choices::IntervalChoices untold(*orders_[order_of_[*here[i]]].context, interval,
                                    before.intervals_[i].Kept());
    intervals_[*here[i]] = std::exchange(before.intervals_[i], std::move(untold));
    taken.push_back(*here[i]);
    bounded_[*here[i]] = before.bounded_[i];
    kept_[*here[i]] = std::move(before.kept_[i]);
  }
  Account({}, TallyOf(taken));
  for (Forbidden forbidden : before.forbidden_) {
    const bool is_here = std::all_of(forbidden.begin(), forbidden.end(), [&here](const Arc& arc) {
      return here[arc.interval].has_value();
    });
    if (!is_here) continue;
    for (Arc& arc : forbidden) {
      const size_t choice = arc.choice;
      arc = ArcOf(intervals_[*here[arc.interval]]);
      arc.choice = choice;
    }
    const auto same = [&forbidden](const Forbidden& other) {
      return std::equal(forbidden.begin(), forbidden.end(), other.begin(), other.end(),
                        [](const Arc& a, const Arc& b) {
                          return a.interval == b.interval && a.choice == b.choice;
                        });
    };
    if (std::none_of(forbidden_.begin(), forbidden_.end(), same))
      forbidden_.push_back(std::move(forbidden));
  }
  if (forbidden_.size() > kMostTakenOver)
    forbidden_.erase(forbidden_.begin(),
                     forbidden_.end() - static_cast<std::ptrdiff_t>(kMostTakenOver));
}

void PathSearch::TakeSearchLimits(const PathSearch& before) {
  longest_ = std::min(most_, before.longest_);
  looks_at_kept_ = before.looks_at_kept_;
  may_keep_ = before.may_keep_;
  extended_ = before.extended_;
}

orders::Order PathSearch::OrderOf(const Selection& selection) const {
  orders::Order all;
  for (const choices::IntervalChoices* interval : selection.intervals) {
    const orders::Order& order = orders_[order_of_[IndexOf(*interval)]].order;
    all.insert(all.end(), order.begin() + interval->Interval().first,
               order.begin() + interval->Interval().last + 1);
  }
  return all;
}

// The results of a path search for single operators with nothing kept. The baseline consists of
// them, a search that is cut short falls back on them, and an operator that does not fit alone is
// the simplest reason why no plan exists. So they are decided before anything else, each until its
// best choice fits, none is left, or more tile shapes were added than PathSearch allows.

std::vector<size_t> PathSearch::Singles() const {
  std::vector<size_t> singles;
  singles.reserve(static_cast<size_t>(operators_));
  for (int op = 0; op < operators_; ++op) singles.push_back(crossings_[PlaceOf(op, 1)]);
  return singles;
}

void PathSearch::FormulateSingles(const base::Stop& stop) {
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    choices::IntervalChoices& single = intervals_[index];
    if (single.IsFormulated()) continue;
    tasks.emplace_back([&single, &stop] {
      if (stop.Requested()) return;
      if (!single.IsExpanded()) single.Expand(stop);
      single.Formulate(stop);
    });
  }
  work_ += RunOn(singles, tasks);
}

bool PathSearch::DecideSingles(const base::Stop& stop) {
  FormulateSingles(stop);
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    choices::IntervalChoices& single = intervals_[index];
    tasks.emplace_back([this, &single, &stop] {
      while (!stop.Requested()) {
        const std::optional<size_t> best = BestSingle(single);
        if (best && single.Choices()[*best].verdict == choices::ChoiceStatus::kFits) return;
        if (best) {
          single.Decide(*best, stop);
        } else if (single.Choices().size() > kMostExtended || single.Extend(kExtension) == 0) {
          return;
        }
      }
    });
  }
  RunOn(singles, tasks);
  const bool decided = !stop.Requested();
  Report();
  return decided;
}

void PathSearch::DecideSinglesInHaste() {
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    choices::IntervalChoices& single = intervals_[index];
    const std::span<const choices::Choice> known = single.Choices();
    if (std::any_of(known.begin(), known.end(), [](const choices::Choice& choice) {
          return choice.verdict == choices::ChoiceStatus::kFits;
        }))
      continue;
    tasks.emplace_back([&single] { single.ExpandInHaste(); });
  }
  RunOn(singles, tasks);
}

std::optional<size_t> PathSearch::BestSingle(const choices::IntervalChoices& single) const {
  std::optional<size_t> best;
  for (const size_t choice : single.Front({})) {
    const auto cost = [&](size_t i) -> const cost::Cost& { return single.Choices()[i].cost; };
    if (!best || context_->scale.Prefers(cost(choice), cost(*best))) best = choice;
  }
  return best;
}

}  // namespace tessera::search::partition::paths

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/interval_lattice.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "tessera/encoder/program/choices.h"

namespace tessera::search::partition::paths {
namespace {

OrderLattice LatticeOf(std::span<const Ordered> all) {
  std::vector<orders::Order> orders;
  std::vector<OrderLattice::Kind> kinds;
  for (const Ordered& each : all) {
    orders.push_back(each.order);
    kinds.push_back(each.kind);
  }
  return OrderLattice(std::move(orders), std::move(kinds));
}

}  // namespace

IntervalLattice::IntervalLattice(std::span<const Ordered> orders, int most_operators,
                                 const OtherOrderLimits& other_limits)
    : orders_(orders.begin(), orders.end()),
      operators_(static_cast<int>(orders_.front().context->graph.operators.size())),
      lattice_(LatticeOf(orders)),
      most_(std::min(most_operators, operators_)),
      longest_(std::max(most_, orders_.front().constraints->Inseparable({0, operators_ - 1}))) {
  NumberStates();
  AddIntervals(other_limits);
}

// Orders that meet at a cut have the same states there, because they can keep the same tensors.
void IntervalLattice::NumberStates() {
  std::vector<int> count(static_cast<size_t>(lattice_.Cuts()));
  for (size_t order = 0; order < orders_.size(); ++order) {
    const CutStates& states = *orders_[order].states;
    caps_kept_ = caps_kept_ || states.IsCapped();
    lacks_sets_ = lacks_sets_ || states.LacksSets();
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

void IntervalLattice::AddIntervals(const OtherOrderLimits& other_limits) {
  const Ordered& own = orders_.front();
  AddIntervalsOfFirstOrder();
  if (leaves_out_) {
    base::FreeUnlessAtEnd(
        std::make_unique<std::deque<LatticeInterval>>(std::exchange(intervals_, {})),
        own.context->stop);
    crossings_.clear();
    AddFewIntervals();
    has_all_orders_ = orders_.size() == 1;
    return;
  }
  if (orders_.size() == 1) return;
  DistinctIntervals distinct(lattice_, other_limits.alike);
  distinct.Take(0, longest_);
  const int most = std::max(std::min(other_limits.most_operators, most_),
                            own.constraints->Inseparable({0, operators_ - 1}));
  const size_t room = intervals_.size() + other_limits.most_intervals;
  for (size_t order = 1; order < orders_.size() && has_all_orders_; ++order) {
    if (own.context->stop.Requested()) leaves_out_ = true;
    has_all_orders_ = !leaves_out_;
    if (leaves_out_) break;
    for (const graph::Interval interval : distinct.Take(order, most))
      AddInterval(order, interval, CutStates::Which::kAll);
    has_all_orders_ = intervals_.size() <= room;
  }
}

// Adds the intervals of the first order. After a stop, the remaining ones are missing.
void IntervalLattice::AddIntervalsOfFirstOrder() {
  const base::Stop& stop = orders_.front().context->stop;
  for (int first = 0; first < operators_; ++first) {
    for (int length = 1; length <= std::min(longest_, operators_ - first); ++length) {
      leaves_out_ = leaves_out_ || stop.Requested();
      if (leaves_out_) return;
      crossings_.push_back(intervals_.size());
      AddInterval(0, {first, first + length - 1}, CutStates::Which::kAll);
    }
  }
}

// After a stop: adds only the single operators that a plan of single operators needs, and the
// subgraphs of a previous plan. Other intervals have no crossings.
void IntervalLattice::AddFewIntervals() {
  const choices::PreviousPlan* previous = orders_.front().context->previous;
  could_keep_ = true;
  for (int first = 0; first < operators_; ++first) {
    for (int length = 1; length <= std::min(longest_, operators_ - first); ++length) {
      const graph::Interval interval{first, first + length - 1};
      crossings_.push_back(intervals_.size());
      if (previous != nullptr && previous->TileOf(interval) != nullptr) {
        AddInterval(0, interval, CutStates::Which::kAll);
      } else if (length == 1) {
        AddInterval(0, interval, CutStates::Which::kRequired);
      }
    }
  }
}

void IntervalLattice::AddInterval(size_t order, graph::Interval interval, CutStates::Which which) {
  const choices::SearchContext* context = orders_[order].context;
  const CutStates* states = orders_[order].states;
  const constraints::PlanConstraints* constraints = orders_[order].constraints;
  const int length = interval.last - interval.first + 1;
  const int inseparable = constraints->Inseparable(interval);
  const bool allowed = length <= std::max(most_, inseparable) && constraints->Allow(interval) &&
                       !encoder::program::JoinsHost(context->graph, context->profile, interval);
  if (!allowed && (length > 1 || order > 0)) return;
  const bool is_open = constraints->ConfigOf(interval) == nullptr &&
                       constraints->PinsOf(interval, 0, context->TileMemory().name).empty();
  const auto state_at = [&](int position, int state) {
    return first_state_[static_cast<size_t>(lattice_.CutAt(order, position))] + state -
           states->FirstAt(position);
  };
  const auto add = [&](const Crossing& crossing, bool is_allowed) {
    const bool is_at_home = constraints->AreAllOf(crossing.kept);
    could_keep_ = could_keep_ || (is_allowed && !is_at_home);
    intervals_.push_back({.choices = choices::IntervalChoices(*context, interval, crossing.kept,
                                                              is_allowed ? constraints : nullptr),
                          .index = intervals_.size(),
                          .order = order,
                          .begin = state_at(interval.first, crossing.begin),
                          .end = state_at(interval.last + 1, crossing.end),
                          .inseparable = inseparable,
                          .is_allowed = is_allowed,
                          .is_at_home = is_at_home});
  };
  const encoder::program::HomeCapacity& homes = *orders_[order].homes;
  for (const Crossing& crossing : states->CrossingsOf(interval, which)) {
    const bool may_be_chosen = allowed && constraints->Allow(interval, crossing.kept) &&
                               !homes.FindOverflow(interval, crossing.kept);
    const bool in_baseline = order == 0 && length == 1 && crossing.kept.empty();
    if (in_baseline && !(may_be_chosen && is_open)) add(crossing, false);
    if (may_be_chosen) add(crossing, true);
  }
}

size_t IntervalLattice::PlaceOf(int first, int length) const {
  // Each operator before `first` begins longest_ intervals, except those too near the end.
  const int full = std::max(0, std::min(first, operators_ - longest_ + 1));
  int64_t index = int64_t{full} * longest_;
  for (int begin = full; begin < first; ++begin) index += operators_ - begin;
  return static_cast<size_t>(index + length - 1);
}

IntervalLattice::SomeIntervals IntervalLattice::Crossings(int first, int length) const {
  const size_t place = PlaceOf(first, length);
  const size_t end = place + 1 < crossings_.size() ? crossings_[place + 1] : intervals_.size();
  const auto at = [this](size_t i) { return intervals_.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(crossings_[place]), at(end)};
}

std::vector<size_t> IntervalLattice::Singles() const {
  std::vector<size_t> singles;
  singles.reserve(static_cast<size_t>(operators_));
  for (int op = 0; op < operators_; ++op) singles.push_back(crossings_[PlaceOf(op, 1)]);
  return singles;
}

size_t IntervalLattice::EndOfCrossings(size_t interval) const {
  const LatticeInterval& first = intervals_[interval];
  size_t end = interval + 1;
  while (end < intervals_.size() && intervals_[end].order == first.order &&
         intervals_[end].choices.Interval() == first.choices.Interval())
    ++end;
  return end;
}

orders::Order IntervalLattice::OperatorsOf(const LatticeInterval& interval) const {
  const orders::Order& order = orders_[interval.order].order;
  const auto [first, last] = interval.choices.Interval();
  return {order.begin() + first, order.begin() + last + 1};
}

std::vector<std::optional<size_t>> IntervalLattice::FindHere(const IntervalLattice& other) const {
  using Identity = std::tuple<OrderLattice::Kind, int, orders::Order>;
  const auto cut_before = [](const IntervalLattice& lattice, const LatticeInterval& interval) {
    return lattice.lattice_.CutAt(interval.order, interval.choices.Interval().first);
  };
  const auto identity_of = [](const IntervalLattice& lattice, size_t i, int cut) -> Identity {
    const LatticeInterval& interval = lattice.intervals_[i];
    return {lattice.lattice_.KindOf(interval.order), cut, lattice.OperatorsOf(interval)};
  };
  std::map<Identity, size_t> groups;  // of crossings: the first
  for (size_t i = 0; i < intervals_.size(); i = EndOfCrossings(i))
    groups.emplace(identity_of(*this, i, cut_before(*this, intervals_[i])), i);

  const std::vector<int> cuts = lattice_.CutsOf(other.lattice_);
  std::vector<std::optional<size_t>> here(other.intervals_.size());
  for (size_t i = 0; i < here.size();) {
    const size_t end = other.EndOfCrossings(i);
    const int cut = cuts[static_cast<size_t>(cut_before(other, other.intervals_[i]))];
    const auto group = groups.find(identity_of(other, i, cut));
    if (group == groups.end()) {
      i = end;
      continue;
    }
    // Usually both lattices have the same crossings in the same order, so the search for each one
    // begins after the last one found.
    const size_t first = group->second;
    const size_t crossings = EndOfCrossings(first) - first;
    size_t next = 0;
    for (; i < end; ++i) {
      for (size_t step = 0; step < crossings && !here[i]; ++step) {
        const LatticeInterval& own = intervals_[first + (next + step) % crossings];
        if (own.is_allowed == other.intervals_[i].is_allowed &&
            own.choices.Kept() == other.intervals_[i].choices.Kept())
          here[i] = own.index;
      }
      if (here[i]) next = *here[i] - first + 1;
    }
  }
  return here;
}

bool IntervalLattice::TakeOver(size_t interval, LatticeInterval& other) {
  if (other.is_given_away) return false;
  other.is_given_away = true;
  LatticeInterval& own = intervals_[interval];
  choices::IntervalChoices unexamined(ContextOf(own), other.choices.Interval(),
                                      other.choices.Kept());
  own.choices = std::exchange(other.choices, std::move(unexamined));
  own.is_bounded = other.is_bounded;
  return true;
}

}  // namespace tessera::search::partition::paths

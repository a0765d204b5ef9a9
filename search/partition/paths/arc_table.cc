// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/arc_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tessera/base/stop.h"

namespace tessera::search::partition::paths {
namespace {

// The number of forbidden selections that are taken over from earlier searches, so that there is
// room for those of this search.
constexpr size_t kMostTakenOver = 8;

Arc ArcOf(const LatticeInterval& interval, size_t choice, const cost::Cost& cost) {
  Arc arc = ArcOf(interval);
  arc.choice = choice;
  arc.cost = cost;
  return arc;
}

// Returns the arcs of the choices; nullptr if there are none.
std::unique_ptr<ParallelArcs> ChoicesOf(const LatticeInterval& interval,
                                        const std::vector<size_t>& needed) {
  std::unique_ptr<ParallelArcs> arcs;
  for (const size_t choice : interval.choices.Front(needed)) {
    const Arc arc = ArcOf(interval, choice, interval.choices.Choices()[choice].cost);
    if (arcs == nullptr) {
      arcs = std::make_unique<ParallelArcs>(arc);
    } else {
      arcs->Add(arc);
    }
  }
  return arcs;
}

bool AreSame(const Forbidden& a, const Forbidden& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Arc& one, const Arc& other) {
    return one.interval == other.interval && one.choice == other.choice;
  });
}

}  // namespace

Arc ArcOf(const LatticeInterval& interval) {
  return {.begin = interval.begin,
          .end = interval.end,
          .interval = interval.index,
          .choice = kBounded,
          .cost = {}};
}

ArcTable::ArcTable(const IntervalLattice& lattice)
    : lattice_(&lattice),
      intervals_(lattice.Intervals().size()),
      needed_(lattice.Intervals().size()) {
  const std::vector<Ends> intervals = IntervalsByBegin();
  lists_.reserve(kLists);
  for (const Of list : {Of::kExpanded, Of::kAll, Of::kWithUntried})
    has_places_ = AddPlaces(list, intervals) && has_places_;
}

std::vector<ArcTable::Ends> ArcTable::IntervalsByBegin() const {
  std::vector<size_t> next(static_cast<size_t>(lattice_->LastState()) + 2);
  for (const LatticeInterval& interval : lattice_->Intervals())
    ++next[static_cast<size_t>(interval.begin) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Ends> sorted(lattice_->Intervals().size());
  for (const LatticeInterval& interval : lattice_->Intervals()) {
    sorted[next[static_cast<size_t>(interval.begin)]++] = {static_cast<uint32_t>(interval.begin),
                                                           static_cast<uint32_t>(interval.end),
                                                           static_cast<uint32_t>(interval.index)};
  }
  return sorted;
}

// Adds the places of a list. The order prefers, of equal paths, those over known choices to those
// over untried ones. Returns false if a stop came first; then the list has no places.
bool ArcTable::AddPlaces(Of list, std::span<const Ends> intervals) {
  std::vector<ArcLists::Place> places;
  places.reserve(intervals.size() * (static_cast<size_t>(list) + 1));
  const auto add = [&](const Ends& interval, Kind kind) {
    if (!Lists(list, kind)) return;
    intervals_[interval.index].places[static_cast<size_t>(list)][static_cast<size_t>(kind)] =
        static_cast<uint32_t>(places.size());
    places.push_back({.begin = interval.begin, .end = interval.end});
  };
  base::PolledWork work(&lattice_->Context().stop);
  while (!intervals.empty() && !work.IsCutOff()) {
    const auto behind = std::find_if(intervals.begin(), intervals.end(), [&](const Ends& each) {
      return each.begin != intervals.front().begin;
    });
    const auto of_state = intervals.first(static_cast<size_t>(behind - intervals.begin()));
    for (const Ends& interval : of_state) {
      add(interval, Kind::kChoices);
      add(interval, Kind::kBounded);
    }
    for (const Ends& interval : of_state) add(interval, Kind::kUntried);
    intervals = intervals.subspan(of_state.size());
    work.Continues(static_cast<int64_t>(of_state.size()));
  }
  if (work.IsCutOff()) places.clear();
  lists_.emplace_back(lattice_->LastState(), std::move(places));
  return !work.IsCutOff();
}

void ArcTable::Show(OfInterval& interval, Kind kind, const ParallelArcs* arcs) {
  for (const Of list : {Of::kExpanded, Of::kAll, Of::kWithUntried}) {
    const size_t place = interval.places[static_cast<size_t>(list)][static_cast<size_t>(kind)];
    if (Lists(list, kind)) lists_[static_cast<size_t>(list)].Fill(place, arcs);
  }
}

void ArcTable::Fill(OfInterval& interval, Kind kind, std::unique_ptr<ParallelArcs> arcs) {
  std::unique_ptr<ParallelArcs>& stored = interval.arcs[static_cast<size_t>(kind)];
  if (!has_places_ || (arcs == nullptr && stored == nullptr)) return;
  Show(interval, kind, arcs.get());
  stored = std::move(arcs);
  if (kind == Kind::kBounded) interval.shows_bounded = stored != nullptr;
}

void ArcTable::Refresh(size_t interval, const SearchScope& scope) {
  const LatticeInterval& of = lattice_->Intervals()[interval];
  const bool is_expanded = of.choices.IsExpanded();
  std::unique_ptr<ParallelArcs> choices;
  std::unique_ptr<ParallelArcs> bounded;
  std::unique_ptr<ParallelArcs> untried;
  if (RefreshBounded(intervals_[interval], of, scope)) return;
  if (scope.Has(of)) {
    if (!is_expanded || (scope.later_axes == LaterAxes::kEvery && !of.choices.HasEveryAxis()))
      bounded = std::make_unique<ParallelArcs>(ArcOf(of, kBounded, of.choices.Bound()));
    if (is_expanded) {
      choices = ChoicesOf(of, needed_[interval]);
      if (const std::optional<cost::Cost> least = of.choices.UntriedBound())
        untried = std::make_unique<ParallelArcs>(ArcOf(of, kUntried, *least));
    }
  }
  Fill(intervals_[interval], Kind::kChoices, std::move(choices));
  Fill(intervals_[interval], Kind::kBounded, std::move(bounded));
  Fill(intervals_[interval], Kind::kUntried, std::move(untried));
}

// Most intervals are never expanded, and their bounds rarely change: only whether they are in scope
// does. Returns false if the arc of the bound must be made.
bool ArcTable::RefreshBounded(OfInterval& interval, const LatticeInterval& of,
                              const SearchScope& scope) {
  if (of.choices.IsExpanded() || Stored(interval, Kind::kChoices) != nullptr ||
      Stored(interval, Kind::kUntried) != nullptr)
    return false;
  const std::unique_ptr<ParallelArcs>& bounded = Stored(interval, Kind::kBounded);
  const bool shows = scope.Has(of);
  if (bounded == nullptr) return !shows;
  if (!(bounded->All().front().cost == of.choices.Bound())) return false;
  if (shows != interval.shows_bounded)
    Show(interval, Kind::kBounded, shows ? bounded.get() : nullptr);
  interval.shows_bounded = shows;
  return true;
}

void ArcTable::RefreshAll(const SearchScope& scope) {
  base::PolledWork work(&lattice_->Context().stop);
  for (size_t i = 0; i < intervals_.size() && work.Continues(); ++i) Refresh(i, scope);
}

std::vector<Arc> ArcTable::Known(const SearchScope& scope) const {
  std::vector<Arc> arcs;
  for (const LatticeInterval& interval : lattice_->Intervals()) {
    if (!scope.HasCrossing(interval)) continue;
    const std::span<const choices::Choice> choices = interval.choices.Choices();
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].verdict == choices::ChoiceStatus::kFits)
        arcs.push_back(ArcOf(interval, i, choices[i].cost));
    }
  }
  return arcs;
}

std::vector<Arc> ArcTable::BestSingles(const SearchScope& scope) const {
  std::vector<Arc> arcs;
  for (const size_t index : lattice_->Singles()) {
    const LatticeInterval& single = lattice_->Intervals()[index];
    if (!scope.HasCrossing(single)) continue;
    const std::span<const choices::Choice> choices = single.choices.Choices();
    std::optional<size_t> best;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].verdict != choices::ChoiceStatus::kFits) continue;
      if (!best || lattice_->Context().scale.Prefers(choices[i].cost, choices[*best].cost))
        best = i;
    }
    if (best) arcs.push_back(ArcOf(single, *best, choices[*best].cost));
  }
  return arcs;
}

ScoreRooms::ScoreRooms(const ArcLists& arcs, double below)
    : below_(below),
      before_(arcs.LastState() + 1, std::numeric_limits<double>::infinity()),
      behind_(before_) {
  before_.front() = behind_.back() = 0;
  const std::span<const ArcLists::Place> places = arcs.All();
  for (const ArcLists::Place& place : places)
    before_[place.end] = std::min(before_[place.end], before_[place.begin] + place.score);
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    behind_[place->begin] = std::min(behind_[place->begin], behind_[place->end] + place->score);
}

Selection ArcTable::SelectionOf(const Path& path) const {
  Selection selection;
  selection.cost = path.cost;
  for (const Arc& arc : path.arcs)
    selection.subgraphs.push_back({&lattice_->Intervals()[arc.interval], arc.choice});
  return selection;
}

void ArcTable::Forbid(const Selection& selection, const SearchScope& scope) {
  Forbidden forbidden;
  for (const Selected& subgraph : selection.subgraphs) {
    std::vector<size_t>& needed = needed_[subgraph.interval->index];
    if (std::find(needed.begin(), needed.end(), subgraph.index) == needed.end())
      needed.push_back(subgraph.index);
    Refresh(subgraph.interval->index, scope);
    forbidden.push_back(ArcOf(*subgraph.interval, subgraph.index, {}));
  }
  Add(std::move(forbidden));
}

void ArcTable::ForbidIntervalsOf(const Selection& selection, size_t choices) {
  Forbidden forbidden;
  for (const Selected& subgraph : selection.subgraphs)
    forbidden.push_back(ArcOf(*subgraph.interval, choices, {}));
  Add(std::move(forbidden));
}

void ArcTable::AllowAddedChoices() {
  std::erase_if(forbidden_, [](const Forbidden& forbidden) {
    return forbidden.front().choice == kEveryKnownChoice;
  });
}

void ArcTable::Allow(const Selection& selection) {
  std::erase_if(forbidden_, [&](const Forbidden& forbidden) {
    return std::equal(forbidden.begin(), forbidden.end(), selection.subgraphs.begin(),
                      selection.subgraphs.end(), [](const Arc& arc, const Selected& subgraph) {
                        return arc.interval == subgraph.interval->index &&
                               (arc.choice == kEveryKnownChoice || arc.choice == subgraph.index);
                      });
  });
}

void ArcTable::Add(Forbidden forbidden) {
  if (forbidden_.size() >= kMostForbidden) forbidden_.erase(forbidden_.begin());
  forbidden_.push_back(std::move(forbidden));
}

void ArcTable::DropForbiddenBeyond(const SearchScope& scope) {
  std::erase_if(forbidden_, [&](const Forbidden& forbidden) {
    return std::any_of(forbidden.begin(), forbidden.end(), [&](const Arc& arc) {
      return !scope.Has(lattice_->Intervals()[arc.interval]);
    });
  });
}

void ArcTable::TakeNeeded(size_t interval, ArcTable& other, size_t other_interval) {
  needed_[interval] = std::move(other.needed_[other_interval]);
}

void ArcTable::TakeForbidden(const ArcTable& other, std::span<const std::optional<size_t>> here) {
  for (Forbidden forbidden : other.forbidden_) {
    const bool is_here = std::all_of(forbidden.begin(), forbidden.end(), [&here](const Arc& arc) {
      return here[arc.interval].has_value();
    });
    if (!is_here) continue;
    for (Arc& arc : forbidden)
      arc = ArcOf(lattice_->Intervals()[*here[arc.interval]], arc.choice, {});
    const auto is_same = [&](const Forbidden& known) { return AreSame(known, forbidden); };
    if (std::none_of(forbidden_.begin(), forbidden_.end(), is_same))
      forbidden_.push_back(std::move(forbidden));
  }
  if (forbidden_.size() > kMostTakenOver)
    forbidden_.erase(forbidden_.begin(),
                     forbidden_.end() - static_cast<std::ptrdiff_t>(kMostTakenOver));
}

}  // namespace tessera::search::partition::paths

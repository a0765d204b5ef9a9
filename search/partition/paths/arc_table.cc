#include "tessera/search/partition/paths/arc_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace tessera::search::partition::paths {
namespace {

// Forbidden selections of searches before, the last of them, which leave room for those of this
// one.
constexpr size_t kMostTakenOver = 8;

Arc ArcOf(const LatticeInterval& interval, size_t choice, const cost::Cost& cost) {
  Arc arc = ArcOf(interval);
  arc.choice = choice;
  arc.cost = cost;
  return arc;
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

void ArcTable::Refresh(size_t interval, const Reach& reach) {
  const LatticeInterval& of = lattice_->Intervals()[interval];
  std::vector<Arc>& arcs = arcs_[interval];
  arcs.clear();
  if (!reach.Has(of)) return;
  if (!of.choices.IsExpanded()) {
    arcs.push_back(ArcOf(of, kBounded, of.choices.Bound()));
    return;
  }
  for (const size_t choice : of.choices.Front(needed_[interval]))
    arcs.push_back(ArcOf(of, choice, of.choices.Choices()[choice].cost));
  if (reach.later_axes == LaterAxes::kEvery && !of.choices.HasEveryAxis())
    arcs.push_back(ArcOf(of, kBounded, of.choices.Bound()));
}

void ArcTable::RefreshAll(const Reach& reach) {
  for (size_t i = 0; i < arcs_.size(); ++i) Refresh(i, reach);
}

std::vector<Arc> ArcTable::Current(bool only_expanded) const {
  std::vector<Arc> arcs;
  size_t most = 0;
  for (const std::vector<Arc>& each : arcs_) most += each.size();
  arcs.reserve(most);
  for (const std::vector<Arc>& each : arcs_) {
    std::copy_if(each.begin(), each.end(), std::back_inserter(arcs),
                 [&](const Arc& arc) { return !only_expanded || arc.choice != kBounded; });
  }
  return arcs;
}

std::vector<Arc> ArcTable::WithUntried(const Reach& reach) const {
  std::vector<Arc> arcs = Current();
  for (const LatticeInterval& interval : lattice_->Intervals()) {
    if (!interval.choices.IsExpanded() || !reach.Has(interval)) continue;
    if (const std::optional<cost::Cost> untried = interval.choices.UntriedBound())
      arcs.push_back(ArcOf(interval, kUntried, *untried));
  }
  return arcs;
}

std::vector<Arc> ArcTable::Known(const Reach& reach) const {
  std::vector<Arc> arcs;
  for (const LatticeInterval& interval : lattice_->Intervals()) {
    if (!reach.HasCrossing(interval)) continue;
    const std::span<const choices::Choice> choices = interval.choices.Choices();
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].verdict == choices::ChoiceStatus::kFits)
        arcs.push_back(ArcOf(interval, i, choices[i].cost));
    }
  }
  return arcs;
}

std::vector<Arc> ArcTable::BestSingles(const Reach& reach) const {
  std::vector<Arc> arcs;
  for (const size_t index : lattice_->Singles()) {
    const LatticeInterval& single = lattice_->Intervals()[index];
    if (!reach.HasCrossing(single)) continue;
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

std::vector<double> ArcTable::RoomsBelow(double below, std::span<const Arc> arcs) const {
  const auto states = static_cast<size_t>(lattice_->LastState()) + 1;
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

Selection ArcTable::SelectionOf(const Path& path, std::span<const Arc> arcs) const {
  Selection selection;
  selection.cost = path.cost;
  for (const size_t arc : path.arcs)
    selection.subgraphs.push_back({&lattice_->Intervals()[arcs[arc].interval], arcs[arc].choice});
  return selection;
}

void ArcTable::Forbid(const Selection& selection, const Reach& reach) {
  Forbidden forbidden;
  for (const Selected& subgraph : selection.subgraphs) {
    std::vector<size_t>& needed = needed_[subgraph.interval->index];
    if (std::find(needed.begin(), needed.end(), subgraph.index) == needed.end())
      needed.push_back(subgraph.index);
    Refresh(subgraph.interval->index, reach);
    forbidden.push_back(ArcOf(*subgraph.interval, subgraph.index, {}));
  }
  if (forbidden_.size() >= kMostForbidden) forbidden_.erase(forbidden_.begin());
  forbidden_.push_back(std::move(forbidden));
}

void ArcTable::DropForbiddenBeyond(const Reach& reach) {
  std::erase_if(forbidden_, [&](const Forbidden& forbidden) {
    return std::any_of(forbidden.begin(), forbidden.end(), [&](const Arc& arc) {
      return !reach.Has(lattice_->Intervals()[arc.interval]);
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

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/answer/absence.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <utility>

namespace tessera::search::partition::answer {
namespace {

// The most operators that are tried alone to find the obstacle.
constexpr size_t kMostStuck = 64;

// The time for the one operator that is tried alone after a stop; for an interrupt, counted from
// it.
constexpr std::chrono::milliseconds kAfterStop(15);

RoomStatus RoomIn(const choices::IntervalChoices& interval) {
  if (!interval.IsExpanded()) return RoomStatus::kUndecided;
  RoomStatus room = interval.IsComplete() ? RoomStatus::kNone : RoomStatus::kUndecided;
  for (const choices::Choice& choice : interval.Choices()) {
    if (choice.verdict == choices::ChoiceStatus::kFits) return RoomStatus::kSome;
    if (choice.verdict != choices::ChoiceStatus::kImpossible) room = RoomStatus::kUndecided;
  }
  return room;
}

}  // namespace

// Calls visit(interval) for each interval that contains the operator, in every crossing that
// constraints allow.
template <typename Visit>
void Absence::ForEachAround(int op, Visit visit) const {
  for (int first = std::max(0, op - lattice_.Longest() + 1); first <= op; ++first) {
    const int most = std::min(lattice_.Longest(), lattice_.Operators() - first);
    for (int length = op - first + 1; length <= most; ++length) {
      for (const paths::LatticeInterval& crossing : lattice_.Crossings(first, length)) {
        if (crossing.is_allowed) visit(crossing);
      }
    }
  }
}

RoomStatus Absence::RoomFor(int op, bool at_home) const {
  RoomStatus best = RoomStatus::kNone;
  ForEachAround(op, [&](const paths::LatticeInterval& interval) {
    if (interval.is_at_home || !at_home) best = std::min(best, RoomIn(interval.choices));
  });
  return best;
}

std::optional<int> Absence::FindTightest(bool at_home) const {
  std::optional<int> tightest;
  problem::Bytes most = -1;
  for (int op = 0; op < lattice_.Operators(); ++op) {
    if (RoomFor(op, at_home) != RoomStatus::kNone) continue;
    const problem::Bytes least = LeastBytes(op);
    if (least <= most) continue;
    tightest = op;
    most = least;
  }
  return tightest;
}

problem::Bytes Absence::LeastBytes(int op) const {
  problem::Bytes least = std::numeric_limits<problem::Bytes>::max();
  for (const choices::Choice& choice : lattice_.Single(op).choices.Choices())
    least = std::min(least, choice.peak_bytes);
  return least == std::numeric_limits<problem::Bytes>::max() ? 0 : least;
}

std::optional<int> Absence::FindRefused() const {
  for (int op = 0; op < lattice_.Operators(); ++op) {
    if (!lattice_.Single(op).choices.Refusal()) continue;
    bool all_refused = true;
    ForEachAround(op, [&](const paths::LatticeInterval& interval) {
      all_refused = all_refused && IsRefused(interval.choices);
    });
    if (all_refused) return op;
  }
  return std::nullopt;
}

// Whether the encoder refuses the interval. Tries it if necessary: the search need not have
// expanded all intervals around a refused operator.
bool Absence::IsRefused(const choices::IntervalChoices& interval) const {
  if (interval.IsFormulated()) return interval.Refusal() != nullptr;
  if (context_.stop.Requested()) return false;
  choices::IntervalChoices probe(context_, interval.Interval(), interval.Kept());
  probe.Expand(context_.stop);
  probe.Formulate(context_.stop);
  return probe.Refusal() != nullptr;
}

std::optional<FullHome> Absence::FindFullHome() const {
  const encoder::program::HomeCapacity homes(context_.graph, context_.profile);
  for (int op = 0; op < lattice_.Operators(); ++op) {
    const std::optional<base::Diagnostic> overflow = homes.FindOverflow({op, op}, {});
    if (!overflow) continue;
    bool any = false;
    ForEachAround(op, [&any](const paths::LatticeInterval&) { any = true; });
    if (!any) return FullHome{op, overflow->message};
  }
  return std::nullopt;
}

std::optional<FullHome> Absence::FindFullHomeAlone() const {
  const encoder::program::HomeCapacity homes(context_.graph, context_.profile);
  for (int op = 0; op < lattice_.Operators(); ++op) {
    if (const auto overflow = homes.FindOverflow({op, op}, {}))
      return FullHome{op, overflow->message};
  }
  return std::nullopt;
}

bool Absence::HasPath(bool within_limits) const {
  std::vector<paths::Arc> arcs;
  for (const paths::LatticeInterval& interval : lattice_.Intervals()) {
    if (!interval.is_allowed) continue;
    const choices::IntervalChoices& choices = interval.choices;
    paths::Arc arc = paths::ArcOf(interval);
    if (!choices.IsExpanded() || !choices.IsComplete()) {
      if (within_limits) arc.cost = choices.Bound();
      arcs.push_back(arc);
    }
    for (const choices::Choice& choice : choices.Choices()) {
      if (choice.verdict == choices::ChoiceStatus::kImpossible) continue;
      if (within_limits) arc.cost = choice.cost;
      arcs.push_back(arc);
      if (!within_limits) break;
    }
  }
  paths::PathLook look = paths::PathLook::For(context_.scale, context_.stop);
  // Without limits all labels are equal, and one of each state is enough.
  look.most_labels_with_prices =
      std::max<int64_t>(look.most_labels_with_prices, lattice_.LastState());
  return paths::FindBestPath(context_.scale, lattice_.LastState(), arcs, {}, look).has_value() ||
         look.IsOpen();
}

std::optional<int> Absence::FarthestCut() const {
  std::vector<bool> reached(static_cast<size_t>(lattice_.Operators()) + 1);
  reached[0] = true;
  int farthest = 0;
  for (int cut = 0; cut < lattice_.Operators(); ++cut) {
    if (!reached[static_cast<size_t>(cut)]) continue;
    farthest = cut;
    const int most = std::min(lattice_.Longest(), lattice_.Operators() - cut);
    for (int length = 1; length <= most; ++length) {
      for (const paths::LatticeInterval& interval : lattice_.Crossings(cut, length)) {
        if (interval.is_allowed && RoomIn(interval.choices) != RoomStatus::kNone)
          reached[static_cast<size_t>(cut) + static_cast<size_t>(length)] = true;
      }
    }
  }
  return reached.back() ? std::nullopt : std::optional(farthest);
}

bool Absence::LeavesOutShapes() const {
  const std::deque<paths::LatticeInterval>& all = lattice_.Intervals();
  return std::any_of(all.begin(), all.end(), [](const paths::LatticeInterval& interval) {
    const choices::IntervalChoices& choices = interval.choices;
    return interval.is_allowed && choices.IsExpanded() && !choices.IsComplete() &&
           !choices.AnyGivenUp();
  });
}

std::vector<OperatorWithoutRoom> Absence::FindWithoutRoom(std::optional<int> first) const {
  std::vector<int> unseen;
  if (first) unseen.push_back(*first);
  for (int op = 0; op < lattice_.Operators(); ++op) {
    if (op != first && RoomIn(lattice_.Single(op).choices) != RoomStatus::kSome)
      unseen.push_back(op);
  }
  if (context_.stop.Requested()) return FindWithoutRoomAfterStop(unseen);
  if (unseen.size() > kMostStuck) unseen.resize(kMostStuck);
  std::sort(unseen.begin(), unseen.end());
  std::vector<OperatorWithoutRoom> stuck;
  for (const int op : unseen) {
    if (context_.stop.Requested()) break;
    if (auto each = TryAlone(op, context_.stop)) stuck.push_back(*std::move(each));
  }
  return stuck;
}

std::vector<OperatorWithoutRoom> Absence::FindWithoutRoomAfterStop(
    std::span<const int> unseen) const {
  if (unseen.empty()) return {};
  const int largest = *std::max_element(
      unseen.begin(), unseen.end(), [&](int a, int b) { return LeastBytes(a) < LeastBytes(b); });
  const auto begin = context_.stop.InterruptedAt().value_or(base::Stop::Clock::now());
  const base::Stop stop(begin + kAfterStop);
  if (stop.Requested()) return {};
  if (auto stuck = TryAlone(largest, stop)) return {*std::move(stuck)};
  return {};
}

std::optional<OperatorWithoutRoom> Absence::TryAlone(int op, const base::Stop& stop) const {
  const placement::AloneOptions options{.engines = context_.tile_engines,
                                        .budget = context_.budget,
                                        .room = context_.Room(),
                                        .stop = stop};
  OperatorWithoutRoom stuck{op, placement::TryAlone(context_.graph, context_.profile, op, options)};
  if (stuck.alone.status == problem::Status::kFeasible || stuck.alone.tile.empty())
    return std::nullopt;
  return stuck;
}

}  // namespace tessera::search::partition::answer

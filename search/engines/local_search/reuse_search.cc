// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/local_search/reuse_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "tessera/base/sorting.h"

namespace tessera::search::engines::local_search {
namespace {

using problem::Bytes;

constexpr Bytes kAbsent = -1;

constexpr int64_t kMostRemoved = 10;     // in one step
constexpr int64_t kStepsPerBuffer = 20;  // of the first round
constexpr int64_t kMostInFirstRound = 2'000;
constexpr int64_t kMostVain = 6;       // rounds in sequence without a gain
constexpr double kCoolest = 0.02;      // the tolerated loss at the end of a round, in the first
constexpr int64_t kOneInSkipped = 50;  // offsets that an insertion does not look at
constexpr int64_t kStepsBetweenPolls = 64;

}  // namespace

PenalisedPairs PenalisedPairsOf(const problem::Problem& problem, int memory,
                                const allocate::ConflictModel& model) {
  PenalisedPairs penalties;
  std::vector<int> number(problem.buffers.size(), -1);
  for (int i = 0; i < model.Count(); ++i)
    number[static_cast<size_t>(model.buffers[static_cast<size_t>(i)])] = i;
  const auto number_of = [&](int buffer) {
    int& known = number[static_cast<size_t>(buffer)];
    const problem::Buffer& fixed = problem.buffers[static_cast<size_t>(buffer)];
    if (known < 0) {
      known = model.Count() + static_cast<int>(penalties.anchors.size());
      penalties.anchors.push_back({fixed.offset.value_or(0), fixed.size});
    }
    return known;
  };
  const allocate::Conflicts conflict(problem);
  for (const problem::Cost& cost : problem.costs) {
    const problem::Buffer& first = problem.buffers[static_cast<size_t>(cost.first)];
    const problem::Buffer& second = problem.buffers[static_cast<size_t>(cost.second)];
    const bool counts = cost.kind == problem::CostKind::kReuse && first.memory == memory &&
                        !problem::LiveTogether(first, second) && !conflict(cost.first, cost.second);
    if (counts)
      penalties.pairs.push_back({number_of(cost.first), number_of(cost.second), cost.weight});
  }
  return penalties;
}

ReuseSearch::ReuseSearch(const allocate::ConflictModel& model, const PenalisedPairs& penalties,
                         Bytes capacity, uint64_t seed)
    : model_(model), random_(seed) {
  const auto movable = static_cast<size_t>(model.Count());
  offset_.assign(movable, kAbsent);
  std::vector<Bytes> sizes;
  for (size_t i = 0; i < movable; ++i) {
    const allocate::Positions& positions = model.positions[i];
    sizes.push_back(positions.Size());
    highest_.push_back(positions.Below(capacity - positions.Size() + 1));
  }
  for (const PenalisedPairs::Anchor& anchor : penalties.anchors) {
    offset_.push_back(anchor.offset);
    sizes.push_back(anchor.size);
  }
  cost_.assign(offset_.size(), 0);
  index_in_costly_.assign(offset_.size(), 0);
  std::vector<std::vector<Neighbour>> all(movable), costly(movable);
  for (const PenalisedPairs::Pair& pair : penalties.pairs) {
    const auto add = [&](int from, int to) {
      if (from >= model.Count()) return;
      const auto at = static_cast<size_t>(from);
      costly[at].push_back({to, false, sizes[at], sizes[static_cast<size_t>(to)], pair.weight});
    };
    add(pair.first, pair.second);
    add(pair.second, pair.first);
  }
  for (int i = 0; i < model.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    all[at] = costly[at];
    for (const int e : model.neighbours[i])
      all[at].push_back({e, true, model.sizes[at], model.sizes[static_cast<size_t>(e)], 0});
  }
  neighbours_ = allocate::CompressedLists<Neighbour>(all);
  penalties_ = allocate::CompressedLists<Neighbour>(costly);
}

void ReuseSearch::Start(std::span<const Bytes> offsets) {
  for (int i = 0; i < model_.Count(); ++i) Insert(i, offsets[static_cast<size_t>(i)]);
  Keep();
}

int64_t ReuseSearch::Improve(int64_t limit, const base::Stop& stop) {
  steps_ = 0;
  limit_ = limit;
  RebuildInOrders(stop);
  int64_t vain = 0;
  const int64_t first = std::min(kStepsPerBuffer * model_.Count(), kMostInFirstRound);
  for (int64_t round = first; vain < kMostVain; round += round / 2) {
    const int64_t before = least_cost_;
    RunRound(round, stop);
    if (least_cost_ == 0 || steps_ >= limit_ || stop.Requested()) break;
    vain = least_cost_ < before ? 0 : vain + 1;
  }
  return steps_;
}

// Tries orders that are good for greedy placement (greedy.h) as different starting points.
void ReuseSearch::RebuildInOrders(const base::Stop& stop) {
  std::vector<int> order(static_cast<size_t>(model_.Count()));
  std::iota(order.begin(), order.end(), 0);
  const auto size = [this](int i) { return model_.sizes[static_cast<size_t>(i)]; };
  const auto degree = [this](int i) { return static_cast<Bytes>(model_.neighbours[i].size()); };
  const auto pays = [this](int i) { return static_cast<Bytes>(penalties_[i].size()); };
  const auto try_by = [&](const std::function<Bytes(int)>& key) {
    if (steps_ >= limit_ || stop.Requested() || least_cost_ == 0) return;
    base::SortBy(order, [&](int i) { return -key(i); });
    if (Rebuild(order) && total_ < least_cost_) Keep();
    steps_ += 1 + model_.Count() / kMostRemoved;
  };
  try_by(size);
  try_by([&](int i) { return size(i) * (degree(i) + 1); });
  try_by([&](int i) { return size(i) * (pays(i) + 1); });
  try_by([&](int i) { return size(i) * (degree(i) + pays(i) + 1); });
  try_by(degree);
}

// Places all buffers again in this order. If some buffer has no position, restores the best
// placement.
bool ReuseSearch::Rebuild(std::span<const int> order) {
  for (const int buffer : order) Remove(buffer);
  bool placed = true;
  for (const int buffer : order) {
    const Bytes offset = FindCheapest(buffer);
    placed = placed && offset != kAbsent;
    if (!placed) break;
    Insert(buffer, offset);
  }
  if (placed) return true;
  for (const int buffer : order) {
    if (offset_[static_cast<size_t>(buffer)] != kAbsent) Remove(buffer);
  }
  for (const int buffer : order) Insert(buffer, best_[static_cast<size_t>(buffer)]);
  return false;
}

void ReuseSearch::RunRound(int64_t steps, const base::Stop& stop) {
  for (int i = 0; i < model_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (offset_[at] == best_[at]) continue;
    Remove(i);
    Insert(i, best_[at]);
  }
  const double per_buffer =
      static_cast<double>(total_) / static_cast<double>(std::max<size_t>(costly_.size(), 1));
  for (int64_t step = 0; step < steps && steps_ < limit_ && least_cost_ > 0; ++step, ++steps_) {
    if (step % kStepsBetweenPolls == 0 && stop.Requested()) return;
    const double over = static_cast<double>(step) / static_cast<double>(steps);
    Step(per_buffer * std::pow(kCoolest, over));
  }
}

void ReuseSearch::Step(double tolerated) {
  const int64_t before = total_;
  ChooseRemoved();
  for (Place& place : removed_) {
    place.offset = offset_[static_cast<size_t>(place.buffer)];
    Remove(place.buffer);
  }
  const double chance = static_cast<double>(random_.Uniform(1, 1'000'000)) / 1e6;
  const double most = static_cast<double>(before) - tolerated * std::log(chance);
  if (!Recreate() || static_cast<double>(total_) > most) {
    Undo();
  } else if (total_ < least_cost_) {
    Keep();
  }
}

void ReuseSearch::ChooseRemoved() {
  removed_.clear();
  const auto drawn = random_.Uniform(0, static_cast<int64_t>(costly_.size()) - 1);
  const int seed = costly_[static_cast<size_t>(drawn)];
  if (seed < model_.Count()) AddRemoved(seed);
  const int64_t wanted = random_.Uniform(1, random_.Uniform(1, kMostRemoved));
  for (int64_t tries = 0; tries < 3 * wanted; ++tries) {
    if (static_cast<int64_t>(removed_.size()) >= wanted) return;
    const int of = removed_.empty() ? static_cast<int>(random_.Uniform(0, model_.Count() - 1))
                                    : removed_[static_cast<size_t>(random_.Uniform(
                                                   0, static_cast<int64_t>(removed_.size()) - 1))]
                                          .buffer;
    const std::span<const Neighbour> near = neighbours_[of];
    if (near.empty()) continue;
    const Neighbour& neighbour =
        near[static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(near.size()) - 1))];
    if (neighbour.other >= model_.Count()) continue;
    if (neighbour.conflicts || Pays(neighbour, offset_[static_cast<size_t>(of)]))
      AddRemoved(neighbour.other);
  }
}

void ReuseSearch::AddRemoved(int buffer) {
  const bool known = std::any_of(removed_.begin(), removed_.end(),
                                 [buffer](const Place& place) { return place.buffer == buffer; });
  if (!known) removed_.push_back({buffer, kAbsent});
}

// Inserts the removed buffers, usually the larger ones first. Returns false if some buffer has no
// position.
bool ReuseSearch::Recreate() {
  order_.clear();
  for (const Place& place : removed_) order_.push_back(place.buffer);
  for (size_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1],
              order_[static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(i) - 1))]);
  if (random_.Uniform(0, 1) == 0) {
    base::SortBy(order_, [this](int i) { return -model_.sizes[static_cast<size_t>(i)]; });
  }
  for (const int buffer : order_) {
    const Bytes offset = FindCheapest(buffer);
    if (offset == kAbsent) return false;
    Insert(buffer, offset);
  }
  return true;
}

void ReuseSearch::Undo() {
  for (const Place& place : removed_) {
    if (offset_[static_cast<size_t>(place.buffer)] != kAbsent) Remove(place.buffer);
  }
  for (const Place& place : removed_) Insert(place.buffer, place.offset);
}

void ReuseSearch::Keep() {
  least_cost_ = total_;
  best_.assign(offset_.begin(), offset_.begin() + model_.Count());
}

void ReuseSearch::Insert(int buffer, Bytes offset) {
  offset_[static_cast<size_t>(buffer)] = offset;
  CountPenalties(buffer, 1);
}

void ReuseSearch::Remove(int buffer) {
  CountPenalties(buffer, -1);
  offset_[static_cast<size_t>(buffer)] = kAbsent;
}

void ReuseSearch::CountPenalties(int buffer, int sign) {
  const Bytes offset = offset_[static_cast<size_t>(buffer)];
  for (const Neighbour& neighbour : penalties_[buffer]) {
    if (!Pays(neighbour, offset)) continue;
    total_ += sign * neighbour.weight;
    ChangeCost(buffer, sign * neighbour.weight);
    ChangeCost(neighbour.other, sign * neighbour.weight);
  }
}

void ReuseSearch::ChangeCost(int buffer, int64_t change) {
  const auto at = static_cast<size_t>(buffer);
  const int64_t before = cost_[at];
  cost_[at] += change;
  if (before == 0) {
    index_in_costly_[at] = costly_.size();
    costly_.push_back(buffer);
  } else if (cost_[at] == 0) {
    const int last = costly_.back();
    costly_[index_in_costly_[at]] = last;
    index_in_costly_[static_cast<size_t>(last)] = index_in_costly_[at];
    costly_.pop_back();
  }
}

bool ReuseSearch::Pays(const Neighbour& neighbour, Bytes offset) const {
  const Bytes other = offset_[static_cast<size_t>(neighbour.other)];
  return other != kAbsent && offset > other - neighbour.below && offset < other + neighbour.above;
}

// Returns one of the cheapest offsets, or kAbsent if every offset has a conflict. The offset is
// drawn among the lowest and the highest one of each stretch of least cost.
Bytes ReuseSearch::FindCheapest(int buffer) {
  const allocate::Positions& positions = model_.positions[static_cast<size_t>(buffer)];
  const Bytes beyond = highest_[static_cast<size_t>(buffer)] + 1;
  Event now = SortEvents(buffer, beyond);
  Bytes cheapest = kAbsent;
  int64_t least = std::numeric_limits<int64_t>::max(), count = 0;
  const auto offer = [&](Bytes offset) {
    if (now.cost < least) count = 0;
    least = now.cost;
    if (random_.Uniform(1, ++count) == 1) cheapest = offset;
  };
  for (size_t i = 0; now.at < beyond; ++i) {
    const Event next = i < events_.size() ? events_[i] : Event{beyond};
    if (next.at > now.at && now.conflicts == 0 && now.cost <= least &&
        (cheapest == kAbsent || random_.Uniform(1, kOneInSkipped) > 1)) {
      const Bytes lowest = positions.AtLeast(now.at);
      if (lowest < next.at) {
        offer(lowest);
        const Bytes highest = positions.Below(next.at);
        if (highest > lowest) offer(highest);
      }
    }
    now = {next.at, now.cost + next.cost, now.conflicts + next.conflicts};
  }
  return cheapest;
}

// Returns the cost and the conflicts of offset 0.
ReuseSearch::Event ReuseSearch::SortEvents(int buffer, Bytes beyond) {
  events_.clear();
  Event first;
  for (const Neighbour& neighbour : neighbours_[buffer]) {
    const Bytes other = offset_[static_cast<size_t>(neighbour.other)];
    const Bytes from = other - neighbour.below + 1, to = other + neighbour.above;
    if (other == kAbsent || to <= 0 || from >= beyond) continue;
    const Event change{from, neighbour.weight, neighbour.conflicts ? 1 : 0};
    if (from > 0) {
      events_.push_back(change);
    } else {
      first.cost += change.cost;
      first.conflicts += change.conflicts;
    }
    if (to < beyond) events_.push_back({to, -change.cost, -change.conflicts});
  }
  std::sort(events_.begin(), events_.end(),
            [](const Event& a, const Event& b) { return a.at < b.at; });
  return first;
}

}  // namespace tessera::search::engines::local_search

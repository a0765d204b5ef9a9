// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/local_search/local_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/local_search/reuse_search.h"

namespace tessera::search::engines::local_search {
namespace {

constexpr int64_t kForgetAfterPerBuffer = 5'000;  // steps
constexpr int64_t kOneIn = 100;                   // moves among equally cheap offsets
constexpr int64_t kStepsBetweenStops = 256;

// Sorts events that are nearly in order, in linear time if few are out of order (Cook and Kim,
// 1980). Of every two neighbours in the wrong order both are removed, because either may be the one
// that moved. The removed events are sorted separately and merged. `astray` is empty before and
// after.
template <typename Event>
void SortAlmostSorted(std::vector<Event>& events, std::vector<Event>& astray) {
  const auto earlier = [](const Event& a, const Event& b) { return a.at < b.at; };
  size_t kept = 0;
  for (const Event& event : events) {
    if (kept > 0 && earlier(event, events[kept - 1])) {
      astray.push_back(events[--kept]);
      astray.push_back(event);
    } else {
      events[kept++] = event;
    }
  }
  std::sort(astray.begin(), astray.end(), earlier);
  for (size_t to = events.size(); !astray.empty(); --to) {
    if (kept > 0 && earlier(astray.back(), events[kept - 1])) {
      events[to - 1] = events[--kept];
    } else {
      events[to - 1] = astray.back();
      astray.pop_back();
    }
  }
}

}  // namespace

LocalSearch::LocalSearch(const allocate::ConflictModel& model, uint64_t seed)
    : model_(model), random_(seed), steps_left_(kForgetAfterPerBuffer * model.Count()) {
  const auto buffers = static_cast<size_t>(model.Count());
  offset_.assign(buffers, -1);
  edges_.assign(2 * buffers, 0);
  highest_.assign(buffers, 0);
  overlaps_.assign(buffers, 0);
  index_in_overlapping_.assign(buffers, 0);
}

// Neighbours are in ascending order, so each buffer meets its mirror pairs in that order too.
bool LocalSearch::PairUp(const base::Stop& stop) {
  std::vector<size_t> next = model_.neighbours.Begins();
  mirror_.reserve(next.back());
  weight_.reserve(next.back());
  ends_.reserve(2 * next.back());
  base::PolledWork work(&stop);
  for (int i = 0; i < model_.Count(); ++i) {
    const auto neighbours = model_.neighbours[i];
    auto pair = static_cast<uint32_t>(FirstPairOf(i));
    if (!work.Continues(std::ssize(neighbours))) return false;
    mirror_.resize(pair + neighbours.size());
    weight_.resize(pair + neighbours.size(), 1);
    ends_.resize(2 * (pair + neighbours.size()));
    for (const int e : neighbours) {
      mirror_[pair] = static_cast<uint32_t>(next[static_cast<size_t>(e)]++);
      ends_[2 * size_t{pair}] = {2 * static_cast<uint32_t>(e), pair};
      ends_[2 * size_t{pair} + 1] = {2 * static_cast<uint32_t>(e) + 1, pair};
      ++pair;
    }
  }
  is_paired_ = true;
  return true;
}

bool LocalSearch::Confine(problem::Bytes capacity) {
  for (int i = 0; i < model_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    const allocate::Positions& positions = model_.positions[at];
    highest_[at] = positions.Below(capacity - positions.Size() + 1);
    if (highest_[at] < 0) return false;
    Lay(i, std::clamp(offset_[at], positions.AtLeast(0), highest_[at]));
  }
  overlapping_.clear();
  overlaps_.assign(overlaps_.size(), 0);
  for (int i = 0; i < model_.Count(); ++i) {
    for (const int e : model_.neighbours[i]) {
      if (Overlap(i, e)) ChangeCount(i, 1);
    }
  }
  return true;
}

int64_t LocalSearch::Improve(int64_t limit, const base::Stop& stop) {
  int64_t steps = 0;
  if (!is_paired_ && !PairUp(stop)) return steps;
  for (; steps < limit && HasOverlaps(); ++steps) {
    if (steps % kStepsBetweenStops == 0 && stop.Requested()) break;
    if (--steps_left_ <= 0) {
      weight_.assign(weight_.size(), 1);
      steps_left_ = kForgetAfterPerBuffer * model_.Count();
    }
    Step();
  }
  return steps;
}

void LocalSearch::Step() {
  const auto drawn = random_.Uniform(0, static_cast<int64_t>(overlapping_.size()) - 1);
  const int buffer = overlapping_[static_cast<size_t>(drawn)];
  SortEvents(buffer);
  FindCheapest(buffer);
  if (least_ < own_ || (least_ == own_ && random_.Uniform(1, kOneIn) == 1)) {
    const auto choice = random_.Uniform(0, static_cast<int64_t>(cheapest_.size()) - 1);
    Move(buffer, cheapest_[static_cast<size_t>(choice)]);
  } else {
    RaiseWeights(buffer);
  }
}

// A neighbour is in the way from the offset at which the buffer's last byte reaches its first.
void LocalSearch::SortEvents(int buffer) {
  const auto at = static_cast<size_t>(buffer);
  const problem::Bytes reach = model_.sizes[at] - 1;
  const size_t begin = 2 * FirstPairOf(buffer);
  events_.resize(2 * model_.neighbours[buffer].size());
  for (size_t i = 0; i < events_.size(); ++i) {
    const End end = ends_[begin + i];
    events_[i] = {edges_[end.edge] - (end.edge % 2 != 0 ? 0 : reach), end};
  }
  SortAlmostSorted(events_, astray_);
  for (size_t i = 0; i < events_.size(); ++i) ends_[begin + i] = events_[i].end;
}

// `cost` holds from one event to the next.
void LocalSearch::FindCheapest(int buffer) {
  const auto at = static_cast<size_t>(buffer);
  const problem::Bytes beyond = highest_[at] + 1, own = offset_[at];
  least_ = std::numeric_limits<Cost>::max();
  Cost cost = 0;
  problem::Bytes from = 0;
  for (const Event& event : events_) {
    own_ = from <= own ? cost : own_;
    if (event.at >= beyond) break;
    if (event.at > from) {
      if (cost <= least_) Offer(model_.positions[at], from, event.at, cost);
      from = event.at;
    }
    const Weight weight = weight_[event.end.pair];
    cost += event.end.edge % 2 == 0 ? weight : -weight;
  }
  own_ = from <= own ? cost : own_;
  if (cost <= least_) Offer(model_.positions[at], from, beyond, cost);
}

// Offers the lowest and the highest position in [from, to).
void LocalSearch::Offer(const allocate::Positions& positions, problem::Bytes from,
                        problem::Bytes to, Cost cost) {
  const problem::Bytes lowest = positions.AtLeast(from);
  if (lowest >= to) return;
  if (cost < least_) cheapest_.clear();
  least_ = cost;
  cheapest_.push_back(lowest);
  const problem::Bytes highest = positions.Below(to);
  if (highest > lowest) cheapest_.push_back(highest);
}

void LocalSearch::Lay(int buffer, problem::Bytes offset) {
  const auto at = static_cast<size_t>(buffer);
  offset_[at] = edges_[2 * at] = offset;
  edges_[2 * at + 1] = offset + model_.sizes[at];
}

void LocalSearch::Move(int buffer, problem::Bytes offset) {
  CountOverlaps(buffer, -1);
  Lay(buffer, offset);
  CountOverlaps(buffer, 1);
}

void LocalSearch::CountOverlaps(int buffer, int change) {
  for (const int e : model_.neighbours[buffer]) {
    if (!Overlap(buffer, e)) continue;
    ChangeCount(buffer, change);
    ChangeCount(e, change);
  }
}

void LocalSearch::ChangeCount(int buffer, int change) {
  const auto at = static_cast<size_t>(buffer);
  const int before = overlaps_[at];
  overlaps_[at] += change;
  if (before == 0) {
    index_in_overlapping_[at] = overlapping_.size();
    overlapping_.push_back(buffer);
  } else if (overlaps_[at] == 0) {
    const int last = overlapping_.back();
    overlapping_[index_in_overlapping_[at]] = last;
    index_in_overlapping_[static_cast<size_t>(last)] = index_in_overlapping_[at];
    overlapping_.pop_back();
  }
}

void LocalSearch::RaiseWeights(int buffer) {
  size_t pair = FirstPairOf(buffer);
  for (const int e : model_.neighbours[buffer]) {
    const size_t own = pair++;
    if (!Overlap(buffer, e)) continue;
    ++weight_[own];
    ++weight_[mirror_[own]];
  }
}

bool LocalSearch::Overlap(int a, int b) const {
  const auto first = 2 * static_cast<size_t>(a), second = 2 * static_cast<size_t>(b);
  return edges_[first] < edges_[second + 1] && edges_[second] < edges_[first + 1];
}

using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

// One memory. The search refers to the model, so neither may be moved.
struct MemoryState {
  MemoryState(allocate::ConflictModel built, uint64_t seed)
      : model(std::move(built)), search(model, seed) {}
  MemoryState(const MemoryState&) = delete;
  MemoryState& operator=(const MemoryState&) = delete;

  allocate::ConflictModel model;
  LocalSearch search;
};

class LocalSearchSession final : public allocate::PerMemorySession {
 public:
  LocalSearchSession(const Problem& problem, const Ladder* ladder, uint64_t seed)
      : allocate::PerMemorySession("local-search", allocate::BankSupport::kNone, problem, ladder),
        seed_(seed) {}

  // Minimises costs; starts from the hints if they are a placement.
  Result Minimise(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                  const base::Stop& stop) override {
    Result result;
    if (!OpenCandidate(candidate, stop, result)) return result;
    const std::vector<problem::Cost>& costs = Sized().costs;
    if (std::any_of(costs.begin(), costs.end(), [](const problem::Cost& cost) {
          return cost.kind != problem::CostKind::kReuse;
        })) {
      result.status = Status::kUnsupported;
      result.reason = "local search does not minimise mode switches";
      return result;
    }
    if (!TakeHints(capacity, result)) result = Solve(candidate, capacity, budget, stop);
    if (!result.allocation) return result;
    for (size_t memory = 0; memory < Sized().memories.size(); ++memory) {
      const problem::Bytes limit = memory == 0 ? capacity : Sized().memories[memory].capacity;
      ReduceReuse(memory, limit, budget, stop, result);
    }
    result.status = Status::kFeasible;
    result.peak = problem::PeakOf(Sized(), *result.allocation);
    result.cost = problem::CostOf(Sized(), *result.allocation);
    return result;
  }

 private:
  void Reopen() override {
    memories_.clear();
    memories_.resize(Sized().memories.size());
    refusals_.assign(memories_.size(), "");
  }

  // Remaining overlaps prove nothing, so the status is then kUnknown.
  bool SolveMemory(size_t memory, problem::Bytes capacity, const base::Budget& budget,
                   const base::Stop& stop, Result& result) override {
    if (!Improve(memory, capacity, budget, stop, result)) {
      result.status = Status::kUnknown;
      return false;
    }
    const auto& [model, search] = *memories_[memory];
    for (size_t i = 0; i < model.buffers.size(); ++i)
      result.allocation->offsets[static_cast<size_t>(model.buffers[i])] = search.Offsets()[i];
    return true;
  }

  // Returns false, with the reason in the result, if overlaps remain.
  bool Improve(size_t memory, problem::Bytes capacity, const base::Budget& budget,
               const base::Stop& stop, Result& result) {
    const std::string name = "memory '" + Sized().memories[memory].name + "'";
    if (const std::string refusal = Open(memory, stop); !refusal.empty()) {
      result.reason = "local search does not support " + refusal;
      return false;
    }
    if (!memories_[memory]) {
      result.reason = "local search was stopped";
      return false;
    }
    auto& [model, search] = *memories_[memory];
    if (!model.contradiction.empty() || model.fixed_top > capacity || !search.Confine(capacity)) {
      result.reason = "some buffer has no place of its own in " + name;
      return false;
    }
    const int64_t steps_of_unit =
        std::max<int64_t>(model.Count() / LocalSearchEngine::kBuffersPerStep, 1);
    const int64_t units =
        std::min(budget.units - result.statistics.nodes, base::kMaxTotal / steps_of_unit);
    result.statistics.nodes +=
        base::CeilDiv(search.Improve(units * steps_of_unit, stop), steps_of_unit);
    if (!search.HasOverlaps()) return true;
    result.reason = stop.Requested() ? "local search was stopped"
                                     : "local search reached its limit of " +
                                           std::to_string(budget.units) + " nodes";
    return false;
  }

  bool TakeHints(problem::Bytes capacity, Result& result) const {
    problem::Allocation hinted;
    for (const problem::Buffer& buffer : Sized().buffers) {
      const std::optional<problem::Bytes>& at = buffer.offset ? buffer.offset : buffer.hint;
      if (!at) return false;
      hinted.offsets.push_back(*at);
    }
    hinted.modes = problem::ConstantModes(Sized());
    if (!problem::Validate(Sized(), hinted, capacity, 1).empty()) return false;
    result.allocation = std::move(hinted);
    return true;
  }

  // Lowers the costs of one memory. The allocation does not change if the memory has no costs or is
  // too large.
  void ReduceReuse(size_t memory, problem::Bytes capacity, const base::Budget& budget,
                   const base::Stop& stop, Result& result) {
    if (!Open(memory, stop).empty() || !memories_[memory]) return;
    const allocate::ConflictModel& model = memories_[memory]->model;
    std::vector<problem::Bytes>& offsets = result.allocation->offsets;
    ReuseSearch search(model, PenalisedPairsOf(Sized(), static_cast<int>(memory), model), capacity,
                       seed_);
    std::vector<problem::Bytes> start;
    for (const int buffer : model.buffers) start.push_back(offsets[static_cast<size_t>(buffer)]);
    search.Start(start);
    result.statistics.nodes += search.Improve(budget.units - result.statistics.nodes, stop);
    for (size_t i = 0; i < start.size(); ++i)
      offsets[static_cast<size_t>(model.buffers[i])] = search.Best()[i];
  }

  // Returns a text that says why the memory is too large; empty if it is not. After a stop there
  // may be no state.
  std::string Open(size_t memory, const base::Stop& stop) {
    if (memories_[memory]) return "";
    std::string& refusal = refusals_[memory];
    if (!refusal.empty()) return refusal;
    const auto number = static_cast<int>(memory);
    if (const auto oversize = allocate::FindOversize(Sized(), number, stop))
      return refusal = *oversize;
    std::optional<allocate::ConflictModel> model = allocate::BuildModel(Sized(), number, stop);
    if (!model) return "";
    if (model->neighbours.Items() > 2 * LocalSearchEngine::kMostPairs) {
      return refusal = "more than " + std::to_string(LocalSearchEngine::kMostPairs) +
                       " conflicts in memory '" + Sized().memories[memory].name + "'";
    }
    memories_[memory] = std::make_unique<MemoryState>(*std::move(model), seed_);
    return "";
  }

  uint64_t seed_;
  // For the current sizes, by memory.
  std::vector<std::unique_ptr<MemoryState>> memories_;
  std::vector<std::string> refusals_;
};

}  // namespace

std::unique_ptr<problem::Session> LocalSearchEngine::Open(const Problem& problem,
                                                          const Ladder* ladder) const {
  return allocate::OpenContracted(
      Name(), problem, ladder, [this](const Problem& contracted, const Ladder* candidates) {
        return std::make_unique<LocalSearchSession>(contracted, candidates, seed_);
      });
}

}  // namespace tessera::search::engines::local_search

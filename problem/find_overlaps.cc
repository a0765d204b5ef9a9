// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/problem/validator.h"

// Overlaps by a sweep over time.
//
// Lifespans enter at their lower step and leave at their upper step; those that leave go first. The
// buffers that are alive at one step are kept in two parts:
//
//     address ^   |<- alive ->|
//             |  [== c ==]             `apart`: pairwise disjoint, ordered by offset; a new buffer
//             |  [== b ==]                      meets only its predecessor and those that begin
//             |       [== x ==]                 inside it
//             |  [== a ==]             `rest`:  those that met one in `apart` when they entered;
//             '------------------> step         a new buffer is compared with each of them
//
// Every pair that is alive together is compared when the later of the two enters, so no pair is
// missed. Against `apart` the neighbours are enough, because `apart` is disjoint. Against `rest`
// all pairs are compared. In a valid placement `rest` holds only buffers that the user allowed to
// overlap (colocated, exclusive), and the cost is that of a sorted set: O(n log n).
namespace tessera::problem {

namespace {

struct Event {
  Step step = 0;
  bool enters = false;  // leaving sorts before entering: lifespans are half-open
  size_t buffer = 0;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.step, a.enters, a.buffer) < std::tie(b.step, b.enters, b.buffer);
  }
};

using Pair = std::pair<size_t, size_t>;

Pair Ordered(size_t a, size_t b) { return {std::min(a, b), std::max(a, b)}; }

std::set<Pair> PairsAllowedToOverlap(const Problem& problem) {
  std::set<Pair> pairs;
  for (const Relation& relation : problem.relations) {
    if (relation.kind != RelationKind::kColocate && relation.kind != RelationKind::kExclusive)
      continue;
    pairs.insert(
        Ordered(static_cast<size_t>(relation.first), static_cast<size_t>(relation.second)));
  }
  return pairs;
}

class Sweep {
 public:
  Sweep(const Problem& problem, const std::vector<Bytes>& offsets, size_t most)
      : problem_(problem),
        offsets_(offsets),
        most_(most),
        allowed_(PairsAllowedToOverlap(problem)) {}

  void Run(int memory) {
    apart_.clear();
    rest_.clear();
    for (const Event& event : EventsOf(memory)) {
      if (overlaps_.size() >= most_) return;
      event.enters ? Enter(event.buffer, event.step) : Leave(event.buffer);
    }
  }

  std::vector<Overlap> Take() {
    if (overlaps_.size() > most_) overlaps_.resize(most_);
    return std::move(overlaps_);
  }

 private:
  std::vector<Event> EventsOf(int memory) const {
    std::vector<Event> events;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (problem_.buffers[i].memory != memory) continue;
      for (const Lifespan& life : problem_.buffers[i].lifespans) {
        events.push_back({life.lower, true, i});
        events.push_back({life.upper, false, i});
      }
    }
    std::sort(events.begin(), events.end());
    return events;
  }

  Bytes Begin(size_t buffer) const { return offsets_[buffer]; }
  Bytes End(size_t buffer) const { return offsets_[buffer] + problem_.buffers[buffer].size; }

  void Enter(size_t buffer, Step step) {
    for (const size_t other : rest_) Meet(buffer, other, step);
    bool met = false;
    auto it = apart_.lower_bound(Begin(buffer));
    if (it != apart_.begin()) met = Meet(buffer, std::prev(it)->second, step);
    for (; it != apart_.end() && it->first < End(buffer); ++it)
      met |= Meet(buffer, it->second, step);
    if (met) {
      rest_.insert(buffer);
    } else {
      apart_.emplace(Begin(buffer), buffer);
    }
  }

  void Leave(size_t buffer) {
    if (rest_.erase(buffer) == 0) apart_.erase(Begin(buffer));
  }

  // Whether the two share a byte. Records the pair unless it may overlap.
  bool Meet(size_t a, size_t b, Step step) {
    const AddressRange shared = {std::max(Begin(a), Begin(b)), std::min(End(a), End(b))};
    if (shared.begin >= shared.end) return false;
    const Pair pair = Ordered(a, b);
    if (allowed_.count(pair) == 0 && noted_.insert(pair).second) {
      overlaps_.push_back({pair.first, pair.second, step, shared});
    }
    return true;
  }

  const Problem& problem_;
  const std::vector<Bytes>& offsets_;
  const size_t most_;
  const std::set<Pair> allowed_;
  std::map<Bytes, size_t> apart_;
  std::set<size_t> rest_;
  std::set<Pair> noted_;
  std::vector<Overlap> overlaps_;
};

}  // namespace

std::vector<Overlap> FindOverlaps(const Problem& problem, const std::vector<Bytes>& offsets,
                                  size_t most) {
  Sweep sweep(problem, offsets, most);
  for (size_t memory = 0; memory < problem.memories.size(); ++memory)
    sweep.Run(static_cast<int>(memory));
  return sweep.Take();
}

}  // namespace tessera::problem

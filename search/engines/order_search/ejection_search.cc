// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/ejection_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::engines::order_search {

namespace {

constexpr int64_t kRecent = 10;           // steps
constexpr double kRecentFactor = 4;       // a buffer that moved recently weighs more
constexpr double kPenalty = 1;            // for each failure
constexpr double kKeptPenalty = 0.3;      // after Relax
constexpr double kTakesAny = 0.1;         // instead of a large one of the list
constexpr int kSample = 3;                // the largest of this many is taken
constexpr double kTightest = 0.8;         // how often the tightest gap is taken
constexpr double kShakes = 0.125;         // how often a neighbour moves to another gap
constexpr int64_t kScannedPerUnit = 512;  // of work

constexpr unsigned kLeastWidth = 64;  // sections of a slab

double AliveOnAverage(const Instance& instance) {
  double sum = 0;
  for (size_t i = 0; i < instance.size.size(); ++i) sum += instance.last[i] - instance.first[i];
  return sum / std::max(instance.Sections(), 1);
}

}  // namespace

template <typename Function>
void EjectionSearch::ForSlabsOf(int buffer, Function function) {
  const int last = (instance_.last[static_cast<size_t>(buffer)] - 1) >> width_;
  for (int i = instance_.first[static_cast<size_t>(buffer)] >> width_; i <= last; ++i)
    function(slabs_[static_cast<size_t>(i)], i);
}

EjectionSearch::EjectionSearch(const Instance& instance, const Offsets& start, uint64_t seed)
    : instance_(instance), random_(seed), start_(start) {
  const size_t count = instance.size.size();
  penalty_.assign(count, 1);
  moved_at_.assign(count, -kRecent);
  for (size_t i = 0; i < count; ++i) {
    area_.push_back(static_cast<double>(instance.size[i]) *
                    static_cast<double>(instance.last[i] - instance.first[i]));
  }
  base_weight_.resize(count);
  // About as many buffers are born in a slab as are alive at a time.
  const auto alive = static_cast<unsigned>(AliveOnAverage(instance));
  width_ = static_cast<int>(std::bit_width(std::max(alive, kLeastWidth))) - 1;
  slabs_.resize(static_cast<size_t>(instance.Sections() >> width_) + 1);
}

void EjectionSearch::Relax() {
  for (double& penalty : penalty_) penalty = 1 + (penalty - 1) * kKeptPenalty;
}

bool EjectionSearch::Reach(Bytes limit, int64_t steps, Effort& effort) {
  Begin(limit);
  for (; !waiting_.empty(); --steps) {
    if (steps <= 0 || !effort.Spend(1 + std::exchange(scanned_, 0) / kScannedPerUnit)) {
      Salvage();
      return false;
    }
    Step(limit);
  }
  return true;
}

// Starts from the starting placement without the buffers that end above the limit.
void EjectionSearch::Begin(Bytes limit) {
  const auto measure = static_cast<Measure>(random_.Uniform(0, 3) % 3);
  for (size_t i = 0; i < base_weight_.size(); ++i) {
    const double life = static_cast<double>(instance_.last[i] - instance_.first[i]);
    const auto size = static_cast<double>(instance_.size[i]);
    base_weight_[i] = measure == kCount ? 1 : measure == kArea ? area_[i] : size * std::sqrt(life);
  }
  offset_ = start_;
  waiting_.clear();
  std::vector<int> placed;
  for (int i = 0; i < instance_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (instance_.Top(i, offset_[at]) <= limit) {
      placed.push_back(i);
    } else {
      offset_[at] = -1;
      waiting_.push_back(i);
    }
  }
  std::sort(placed.begin(), placed.end(), [&](int a, int b) {
    const Bytes at_a = offset_[static_cast<size_t>(a)], at_b = offset_[static_cast<size_t>(b)];
    return at_a != at_b ? at_a < at_b : a < b;
  });
  for (Slab& slab : slabs_) slab.lives.clear(), slab.buffers.clear();
  for (const int i : placed) {
    ForSlabsOf(i, [&](Slab& slab, int) {
      const auto at = static_cast<size_t>(i);
      slab.lives.push_back({instance_.first[at], instance_.last[at]});
      slab.buffers.push_back(i);
    });
  }
  std::sort(waiting_.begin(), waiting_.end(), [&](int a, int b) {
    const Bytes size_a = instance_.size[static_cast<size_t>(a)];
    const Bytes size_b = instance_.size[static_cast<size_t>(b)];
    return size_a != size_b ? size_a < size_b : a < b;
  });
}

// Copies the changes in windows without unplaced buffers to the starting placement. A window is a
// range of sections that changed buffers connect. So changed buffers of different windows do not
// live together, and unchanged buffers overlap neither the old nor the new offsets.
void EjectionSearch::Salvage() {
  std::vector<int> change(instance_.load.size() + 1, 0);
  const auto has_changed = [&](size_t i) { return offset_[i] != start_[i]; };
  for (size_t i = 0; i < offset_.size(); ++i) {
    if (!has_changed(i)) continue;
    ++change[static_cast<size_t>(instance_.first[i])];
    --change[static_cast<size_t>(instance_.last[i])];
  }
  int living = 0, window = 0;
  for (int& section : change) {
    const bool begins = living == 0;
    living += section;
    window += begins && living > 0 ? 1 : 0;
    section = window;  // of the section, if a changed buffer lives there
  }
  std::vector<bool> failed(static_cast<size_t>(window) + 1, false);
  const auto window_of = [&](size_t i) {
    return static_cast<size_t>(change[static_cast<size_t>(instance_.first[i])]);
  };
  for (const int i : waiting_) failed[window_of(static_cast<size_t>(i))] = true;
  for (size_t i = 0; i < offset_.size(); ++i) {
    if (has_changed(i) && !failed[window_of(i)]) start_[i] = offset_[i];
  }
}

// Removes a buffer from the list: the last one or a larger one of a sample, and sometimes any one.
int EjectionSearch::TakeWaiting() {
  const auto any = [&] {
    return static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(waiting_.size()) - 1));
  };
  size_t choice = waiting_.size() - 1;
  if (random_.Chance(kTakesAny)) {
    choice = any();
  } else {
    for (int i = 0; i < kSample; ++i) {
      const size_t other = any();
      if (area_[static_cast<size_t>(waiting_[other])] >
          area_[static_cast<size_t>(waiting_[choice])])
        choice = other;
    }
  }
  const int buffer = waiting_[choice];
  waiting_[choice] = waiting_.back();
  waiting_.pop_back();
  return buffer;
}

void EjectionSearch::Step(Bytes limit) {
  ++step_;
  const int buffer = TakeWaiting();
  const auto at = static_cast<size_t>(buffer);
  Collect(buffer);
  const Choice choice =
      random_.Chance(kTightest) ? kTightestGap : static_cast<Choice>(random_.Uniform(0, 2));
  Bytes offset = FindGap(buffer, limit, choice);
  if (offset < 0) {
    penalty_[at] += kPenalty;
    offset = FindEjection(buffer, limit);
    const Bytes top = instance_.Top(buffer, offset);
    for (const Neighbour& neighbour : neighbours_) {
      if (neighbour.begin >= top || neighbour.end <= offset) continue;
      Remove(neighbour.buffer);
      waiting_.push_back(neighbour.buffer);
    }
  }
  Put(buffer, offset);
  moved_at_[at] = step_;
  if (random_.Chance(kShakes)) Shake(limit);
}

// Moves a neighbour of the last step to another gap, if it has one.
void EjectionSearch::Shake(Bytes limit) {
  if (neighbours_.empty()) return;
  const auto last = static_cast<int64_t>(neighbours_.size()) - 1;
  const int buffer = neighbours_[static_cast<size_t>(random_.Uniform(0, last))].buffer;
  const Bytes own = offset_[static_cast<size_t>(buffer)];
  if (own < 0) return;
  Remove(buffer);
  Collect(buffer);
  const Bytes offset = FindGap(buffer, limit, random_.Chance(0.5) ? kLowest : kAny);
  Put(buffer, offset >= 0 ? offset : own);
}

void EjectionSearch::Collect(int buffer) {
  const int first = instance_.first[static_cast<size_t>(buffer)];
  const int last = instance_.last[static_cast<size_t>(buffer)];
  neighbours_.clear();
  runs_.assign(1, 0);
  // A neighbour counts in the first slab in which both buffers live.
  ForSlabsOf(buffer, [&](const Slab& slab, int number) {
    scanned_ += static_cast<int64_t>(slab.lives.size());
    for (size_t i = 0; i < slab.lives.size(); ++i) {
      const Life& life = slab.lives[i];
      if (life.first >= last || life.last <= first) continue;
      if (std::max(life.first, first) >> width_ != number) continue;
      const int other = slab.buffers[i];
      const Bytes begin = offset_[static_cast<size_t>(other)];
      neighbours_.push_back({begin, instance_.Top(other, begin), other});
    }
    if (neighbours_.size() > runs_.back()) runs_.push_back(neighbours_.size());
  });
  MergeRuns();
}

// Merges each two adjacent runs until one is left.
void EjectionSearch::MergeRuns() {
  const auto below = [](const Neighbour& a, const Neighbour& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.buffer < b.buffer;
  };
  while (runs_.size() > 2) {
    merged_.resize(neighbours_.size());
    size_t kept = 1;
    for (size_t i = 0; i + 1 < runs_.size(); i += 2) {
      const auto at = [&](size_t run) {
        return neighbours_.begin() + static_cast<std::ptrdiff_t>(runs_[run]);
      };
      const size_t end = std::min(i + 2, runs_.size() - 1);
      std::merge(at(i), at(i + 1), at(i + 1), at(end),
                 merged_.begin() + static_cast<std::ptrdiff_t>(runs_[i]), below);
      runs_[kept++] = runs_[end];
    }
    runs_.resize(kept);
    neighbours_.swap(merged_);
  }
}

Bytes EjectionSearch::AlignDown(int buffer, Bytes offset) const {
  return instance_.alignment.empty()
             ? offset
             : base::RoundDown(offset, instance_.alignment[static_cast<size_t>(buffer)]);
}

// Returns a free offset at one end of a gap, or -1.
Bytes EjectionSearch::FindGap(int buffer, Bytes limit, Choice choice) {
  const Bytes size = instance_.size[static_cast<size_t>(buffer)];
  Bytes found = -1, least = std::numeric_limits<Bytes>::max(), floor = 0;
  int64_t gaps = 0;
  const auto offer = [&](Bytes ceiling) {
    const Bytes lowest = instance_.Align(buffer, floor);
    if (ceiling - lowest < size) return;
    const Bytes gap = ceiling - lowest;
    if (choice == kTightestGap ? gap >= least : choice == kAny && random_.Uniform(0, gaps++) > 0)
      return;
    least = gap;
    const Bytes highest = AlignDown(buffer, ceiling - size);
    found = choice == kLowest || gap == size || random_.Chance(0.5) ? lowest : highest;
  };
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.begin > floor) offer(std::min(neighbour.begin, limit));
    if (found >= 0 && choice == kLowest) return found;
    floor = std::max(floor, neighbour.end);
    if (floor >= limit) return found;
  }
  offer(limit);
  return found;
}

// Returns the offset at which the neighbours in the way weigh least: above the end of one, or below
// the begin of one, or at a limit. The neighbours in the way of [offset, top) are those that begin
// below `top`, except those that end at or below `offset`: two prefixes of sorted sequences.
Bytes EjectionSearch::FindEjection(int buffer, Bytes limit) {
  const Bytes size = instance_.size[static_cast<size_t>(buffer)];
  const size_t count = neighbours_.size();
  by_end_.resize(count);
  std::iota(by_end_.begin(), by_end_.end(), 0);
  std::sort(by_end_.begin(), by_end_.end(), [&](int a, int b) {
    return neighbours_[static_cast<size_t>(a)].end < neighbours_[static_cast<size_t>(b)].end;
  });
  const auto weight = [&](size_t i) {
    const auto other = static_cast<size_t>(neighbours_[i].buffer);
    const bool recent = step_ - moved_at_[other] < kRecent;
    return penalty_[other] * base_weight_[other] * (recent ? kRecentFactor : 1);
  };
  weight_by_begin_.assign(count + 1, 0);
  weight_by_end_.assign(count + 1, 0);
  for (size_t i = 0; i < count; ++i) {
    weight_by_begin_[i + 1] = weight_by_begin_[i] + weight(i);
    weight_by_end_[i + 1] = weight_by_end_[i] + weight(static_cast<size_t>(by_end_[i]));
  }
  double least = std::numeric_limits<double>::max();
  Bytes found = 0;
  int64_t equal = 0;
  size_t begun = 0, ended = 0;
  const auto end_at = [&](size_t i) { return neighbours_[static_cast<size_t>(by_end_[i])].end; };
  const auto offer = [&](Bytes offset) {  // offsets ascend between two resets of the prefixes
    if (offset < 0 || offset + size > limit) return;
    while (begun < count && neighbours_[begun].begin < offset + size) ++begun;
    while (ended < count && end_at(ended) <= offset) ++ended;
    const double sum = weight_by_begin_[begun] - weight_by_end_[ended];
    const double margin = least * 1e-12;
    if (sum > least + margin) return;
    equal = sum < least - margin ? 0 : equal;
    if (random_.Uniform(0, equal++) > 0) return;
    least = std::min(least, sum);
    found = offset;
  };
  offer(0);
  for (size_t i = 0; i < count; ++i) offer(instance_.Align(buffer, end_at(i)));
  begun = ended = 0;
  for (size_t i = 0; i < count; ++i) offer(AlignDown(buffer, neighbours_[i].begin - size));
  begun = ended = 0;
  offer(AlignDown(buffer, limit - size));
  return found;
}

// Returns the position of a buffer in a slab, or the position at which to insert it.
std::ptrdiff_t EjectionSearch::IndexIn(const Slab& slab, int buffer) const {
  const Bytes offset = offset_[static_cast<size_t>(buffer)];
  const auto found = std::partition_point(slab.buffers.begin(), slab.buffers.end(), [&](int other) {
    const Bytes at = offset_[static_cast<size_t>(other)];
    return at != offset ? at < offset : other < buffer;
  });
  return found - slab.buffers.begin();
}

void EjectionSearch::Put(int buffer, Bytes offset) {
  const auto at = static_cast<size_t>(buffer);
  offset_[at] = offset;
  ForSlabsOf(buffer, [&](Slab& slab, int) {
    const std::ptrdiff_t index = IndexIn(slab, buffer);
    slab.buffers.insert(slab.buffers.begin() + index, buffer);
    slab.lives.insert(slab.lives.begin() + index, {instance_.first[at], instance_.last[at]});
  });
}

void EjectionSearch::Remove(int buffer) {
  ForSlabsOf(buffer, [&](Slab& slab, int) {
    const std::ptrdiff_t index = IndexIn(slab, buffer);
    slab.buffers.erase(slab.buffers.begin() + index);
    slab.lives.erase(slab.lives.begin() + index);
  });
  offset_[static_cast<size_t>(buffer)] = -1;
}

}  // namespace tessera::search::engines::order_search

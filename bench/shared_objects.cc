// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/shared_objects.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/result.h"

namespace tessera::bench {

namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Lifespan;
using problem::Problem;
using problem::Step;

class Objects {
 public:
  explicit Objects(const Problem& problem) : problem_(problem), object_of_(problem.buffers.size()) {
    std::set<Step> steps;
    for (const Buffer& buffer : problem.buffers) {
      for (const Lifespan& life : buffer.lifespans) steps.insert(life.lower);
    }
    // The set of live buffers grows only at births.
    for (const Step step : steps) {
      std::vector<size_t>& live = profiles_.emplace_back();
      for (const size_t i : BySize(All())) {
        if (problem::LivesAt(problem.buffers[i], step)) live.push_back(i);
      }
    }
  }

  std::vector<Bytes> Run(ObjectStrategy strategy) {
    switch (strategy) {
      case ObjectStrategy::kBreadth:
        RunByBreadth();
        break;
      case ObjectStrategy::kSize:
        for (const size_t i : BySize(All())) Assign(i);
        break;
      case ObjectStrategy::kSizeImproved:
        RunByLevels();
        break;
    }
    return Stack();
  }

 private:
  struct Object {
    Bytes size = 0;
    Bytes alignment = 1;
    std::vector<size_t> buffers;
  };

  Bytes SizeOf(size_t i) const { return problem_.buffers[i].size; }

  std::vector<size_t> All() const {
    std::vector<size_t> all(problem_.buffers.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  std::vector<size_t> BySize(std::vector<size_t> buffers) const {
    std::stable_sort(buffers.begin(), buffers.end(),
                     [this](size_t a, size_t b) { return SizeOf(a) > SizeOf(b); });
    return buffers;
  }

  bool Suits(const Object& object, size_t i) const {
    return std::none_of(object.buffers.begin(), object.buffers.end(), [&](size_t other) {
      return problem::LiveTogether(problem_.buffers[i], problem_.buffers[other]);
    });
  }

  void Put(size_t i, size_t object) {
    if (object == objects_.size()) objects_.emplace_back();
    Object& taken = objects_[object];
    taken.size = std::max(taken.size, SizeOf(i));
    taken.alignment =
        std::lcm(taken.alignment, problem::AlignmentOf(problem_, problem_.buffers[i]));
    taken.buffers.push_back(i);
    object_of_[i] = object;
  }

  // Assigns the buffer to an object that suits it: the smallest that is large enough, else the
  // largest, else a new one.
  void Assign(size_t i) {
    size_t best = objects_.size();
    for (size_t o = 0; o < objects_.size(); ++o) {
      if (!Suits(objects_[o], i)) continue;
      const bool is_better =
          best == objects_.size() ||
          (objects_[best].size < SizeOf(i)
               ? objects_[o].size > objects_[best].size
               : objects_[o].size >= SizeOf(i) && objects_[o].size < objects_[best].size);
      if (is_better) best = o;
    }
    Put(i, best);
  }

  void RunByBreadth() {
    const auto breadth = [this](const std::vector<size_t>& live) {
      return std::accumulate(live.begin(), live.end(), Bytes{0},
                             [this](Bytes sum, size_t i) { return sum + SizeOf(i); });
    };
    std::vector<std::vector<size_t>> steps = profiles_;
    std::stable_sort(steps.begin(), steps.end(),
                     [&](const auto& a, const auto& b) { return breadth(a) > breadth(b); });
    for (const std::vector<size_t>& live : steps) {
      for (const size_t i : live) {
        if (!object_of_[i]) Assign(i);
      }
    }
  }

  // A level holds the sizes equal to one greatest i-th size, or those between two of them.
  void RunByLevels() {
    std::vector<Bytes> greatest;
    for (const std::vector<size_t>& live : profiles_) {
      if (live.size() > greatest.size()) greatest.resize(live.size(), 0);
      for (size_t i = 0; i < live.size(); ++i) greatest[i] = std::max(greatest[i], SizeOf(live[i]));
    }
    std::map<int64_t, std::vector<size_t>> levels;
    for (const size_t i : BySize(All())) {
      const auto above = std::count_if(greatest.begin(), greatest.end(),
                                       [&](Bytes size) { return size > SizeOf(i); });
      const bool is_equal =
          std::find(greatest.begin(), greatest.end(), SizeOf(i)) != greatest.end();
      levels[2 * above + (is_equal ? 1 : 0)].push_back(i);
    }
    for (auto& [level, buffers] : levels) RunLevel(std::move(buffers));
  }

  void RunLevel(std::vector<size_t> left) {
    while (!left.empty()) {
      std::optional<std::pair<size_t, size_t>> best;  // position in `left`, object
      Step shortest = std::numeric_limits<Step>::max();
      for (size_t at = 0; at < left.size(); ++at) {
        for (size_t o = 0; o < objects_.size(); ++o) {
          if (!Suits(objects_[o], left[at])) continue;
          const Step gap = GapBetween(objects_[o], left[at]);
          if (gap < shortest) best = {at, o}, shortest = gap;
        }
      }
      const auto [at, object] = best.value_or(std::pair(size_t{0}, objects_.size()));
      Put(left[at], object);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  // Returns the steps between the life of a buffer and the nearest life in the object.
  Step GapBetween(const Object& object, size_t i) const {
    Step gap = std::numeric_limits<Step>::max();
    const std::vector<Lifespan>& own = problem_.buffers[i].lifespans;
    for (const size_t other : object.buffers) {
      const std::vector<Lifespan>& lives = problem_.buffers[other].lifespans;
      const bool is_before = lives.back().upper <= own.front().lower;
      gap = std::min(gap, is_before ? own.front().lower - lives.back().upper
                                    : std::abs(lives.front().lower - own.back().upper));
    }
    return gap;
  }

  std::vector<Bytes> Stack() const {
    std::vector<Bytes> offsets(problem_.buffers.size(), 0);
    Bytes top = 0;
    for (const Object& object : objects_) {
      top = base::RoundUp(top, object.alignment);
      for (const size_t i : object.buffers) offsets[i] = top;
      top += object.size;
    }
    return offsets;
  }

  const Problem& problem_;
  std::vector<std::vector<size_t>> profiles_;  // live buffers by size, at each step with a birth
  std::vector<std::optional<size_t>> object_of_;
  std::vector<Object> objects_;
};

}  // namespace

std::vector<Bytes> PlaceSharedObjects(const Problem& problem, ObjectStrategy strategy) {
  return Objects(problem).Run(strategy);
}

std::vector<Bytes> PlaceSharedObjects(const Problem& problem) {
  std::vector<Bytes> best;
  Bytes peak = std::numeric_limits<Bytes>::max();
  for (const ObjectStrategy strategy : kObjectStrategies) {
    std::vector<Bytes> offsets = PlaceSharedObjects(problem, strategy);
    const Bytes found = problem::PeakOf(problem, {offsets, {}});
    if (found < peak) best = std::move(offsets), peak = found;
  }
  return best;
}

}  // namespace tessera::bench

// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/generate/variations.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"

namespace tessera::problem::generate {

using base::Random;

namespace {

struct PlacedRange {
  Bytes begin;
  Bytes end;
  Step death;
};

// The lowest aligned offset between the ranges, which ascend.
Bytes LowestGap(const std::vector<PlacedRange>& ranges, Bytes size, Bytes alignment) {
  Bytes at = 0;
  for (const PlacedRange& range : ranges) {
    if (range.begin - at >= size) break;
    at = std::max(at, base::RoundUp(range.end, alignment));
  }
  return at;
}

// Draws pairs of buffers that `is_wanted` accepts, until there are `count` pairs or many draws in a
// row find no new one.
std::set<std::pair<int, int>> DrawPairs(const Problem& problem, int count, uint64_t seed,
                                        const std::function<bool(size_t, size_t)>& is_wanted) {
  static constexpr int kMostDraws = 10'000;
  std::set<std::pair<int, int>> pairs;
  if (problem.buffers.size() < 2) return pairs;
  Random random(seed);
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  for (int draws = 0; draws < kMostDraws && pairs.size() < static_cast<size_t>(count); ++draws) {
    const auto [a, b] = std::minmax({random.Uniform(0, last), random.Uniform(0, last)});
    const auto first = static_cast<size_t>(a), second = static_cast<size_t>(b);
    if (a == b || LiveTogether(problem.buffers[first], problem.buffers[second])) continue;
    if (problem.buffers[first].memory != problem.buffers[second].memory) continue;
    if (!is_wanted(first, second)) continue;
    if (pairs.emplace(static_cast<int>(a), static_cast<int>(b)).second) draws = 0;
  }
  return pairs;
}

}  // namespace

std::vector<Bytes> PlaceInOrderOfBirth(const Problem& problem) {
  std::vector<size_t> order(problem.buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto birth = [&](size_t i) { return problem.buffers[i].lifespans.front().lower; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return birth(a) < birth(b); });
  std::vector<Bytes> offsets(order.size());
  std::vector<PlacedRange> alive;  // ascending
  for (const size_t i : order) {
    const Buffer& buffer = problem.buffers[i];
    const auto is_dead = [&](const PlacedRange& range) { return range.death <= birth(i); };
    alive.erase(std::remove_if(alive.begin(), alive.end(), is_dead), alive.end());
    offsets[i] = LowestGap(alive, buffer.size, AlignmentOf(problem, buffer));
    const PlacedRange own = {offsets[i], offsets[i] + buffer.size, buffer.lifespans.back().upper};
    const auto before = [](const PlacedRange& a, const PlacedRange& b) {
      return a.begin < b.begin;
    };
    alive.insert(std::upper_bound(alive.begin(), alive.end(), own, before), own);
  }
  return offsets;
}

Bytes TopOf(const Problem& problem, const std::vector<Bytes>& offsets) {
  Bytes top = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (problem.buffers[i].memory == 0) top = std::max(top, offsets[i] + problem.buffers[i].size);
  }
  return top;
}

void FixOffsets(Problem& problem, const std::vector<Bytes>& solution, int64_t share_ppm,
                uint64_t seed) {
  static constexpr double kMillion = 1e6;
  Random random(seed);
  for (size_t i = 0; i < solution.size(); ++i) {
    if (random.Chance(static_cast<double>(share_ppm) / kMillion))
      problem.buffers[i].offset = solution[i];
  }
}

void AddPenalties(Problem& problem, int count, uint64_t seed) {
  const auto any = [](size_t /*first*/, size_t /*second*/) { return true; };
  for (const auto& [first, second] : DrawPairs(problem, count, seed, any)) {
    Cost& cost = problem.costs.emplace_back();
    cost.first = first;
    cost.second = second;
  }
}

void AddValues(Problem& problem, uint64_t seed) {
  static constexpr int64_t kMostAccesses = 8;
  Random random(seed);
  for (Buffer& buffer : problem.buffers)
    buffer.value = buffer.size * random.Uniform(1, kMostAccesses);
}

void SeparatePairs(Problem& problem, const std::vector<Bytes>& solution, int count, uint64_t seed) {
  const auto are_apart = [&](size_t a, size_t b) {
    return solution[a] + problem.buffers[a].size <= solution[b] ||
           solution[b] + problem.buffers[b].size <= solution[a];
  };
  for (const auto& [first, second] : DrawPairs(problem, count, seed, are_apart))
    problem.relations.push_back({RelationKind::kSeparate, first, second, 0});
}

}  // namespace tessera::problem::generate

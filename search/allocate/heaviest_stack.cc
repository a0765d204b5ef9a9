// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/heaviest_stack.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/sorting.h"

// The heaviest stack by branch and bound: a clique of maximum weight in the graph of conflicts.
//
// Why. Without relations the buffers that pairwise meet are those of one section, and a sweep finds
// the heaviest. Relations `separate` add edges between buffers of different sections. The heaviest
// clique is then NP-hard to find, and greedy choices miss it where many small buffers together
// weigh more than the large one that excludes them.
//
// Search. A node of the tree is a stack and the candidates that conflict with all its members. The
// node is extended by each candidate in turn; a candidate that was tried is not tried again at that
// node (Carraghan and Pardalos 1990).
//
// Bound. A set of candidates without a conflict (a colour) adds at most one of its members to the
// stack. A buffer need not be in one colour only: its size is divided among several. Each colour
// takes from all its members the least size that is left among them, until nothing is left:
//
//     sizes a 5, b 3, c 2; only a and b conflict:    {a c} takes 2   a 3 left, b 3, c 0
//                                                    {a}   takes 3   a 0
//                                                    {b}   takes 3   b 0      a + b, c <= 8
//
// A clique has at most one member in each colour, and the shares of a member add up to its size.
// Hence a clique among the buffers that are used up by the k-th colour weighs at most what the
// first k colours took (Babel 1994). Candidates are tried in the reverse of the order in which they
// are used up. The first whose colours cannot lift the load above the best one ends the node. If
// each size were charged to one colour, that colour would take its largest size. A kernel of 126
// buffers then needs 300 000 nodes instead of 23.
//
// Padding. The load is the sum of the padded sizes less the greatest padding. Further members only
// increase the greatest padding, so the padding so far keeps the bound valid.
//
// Before the search, buffers are removed whose own size and the sizes near them are not enough for
// a better load, until none is left to remove.
//
// Sound. Only stacks are returned, whose members the caller's graph puts in pairwise conflict: they
// lie one above another in every placement, whatever their fixed offsets, windows and banks are. An
// error of the bound could only make a result too low.
//
// Cost. Sets are rows of bits, as in San Segundo et al. 2011. With n buffers a colour costs n / 64
// visits for each of its members, and a node needs at most one colour for each candidate. The
// visits are limited.
namespace tessera::search::allocate {
namespace {

using problem::Bytes;

constexpr int64_t kMostVisits = 10'000'000;  // of a buffer, or of a word of a set
constexpr int64_t kVisitsPerLook = 1 << 16;

// Numbers from 0 to a limit.
class Set {
 public:
  explicit Set(size_t limit) : words_((limit + kBits - 1) / kBits, 0) {}

  size_t Words() const { return words_.size(); }
  void Insert(size_t i) { words_[i / kBits] |= uint64_t{1} << i % kBits; }
  void Erase(size_t i) { words_[i / kBits] &= ~(uint64_t{1} << i % kBits); }

  // Returns the least member that is at least `from`, or kNone.
  size_t Next(size_t from) const {
    for (size_t at = from / kBits; at < words_.size(); ++at, from = at * kBits) {
      const uint64_t word = words_[at] >> from % kBits << from % kBits;
      if (word != 0) return at * kBits + static_cast<size_t>(std::countr_zero(word));
    }
    return kNone;
  }

  // Removes the members from `from` on that are in the other set.
  void SubtractFrom(size_t from, const Set& other) {
    for (size_t at = from / kBits; at < words_.size(); ++at) words_[at] &= ~other.words_[at];
  }

  Set Intersection(const Set& other) const {
    Set both = *this;
    for (size_t at = 0; at < words_.size(); ++at) both.words_[at] &= other.words_[at];
    return both;
  }

  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

 private:
  static constexpr size_t kBits = 64;
  std::vector<uint64_t> words_;
};

// Returns the positions that can be part of a stack whose padded sizes exceed `known`, by the sizes
// near them.
std::vector<size_t> Reduce(const StackGraph& graph, std::span<const Bytes> padded, Bytes known) {
  std::vector<Bytes> around(padded.begin(), padded.end());
  for (size_t i = 0; i < padded.size(); ++i) {
    for (const size_t j : graph.near[i]) around[i] += padded[j];
  }
  std::vector<size_t> removed;
  for (size_t i = 0; i < padded.size(); ++i) {
    if (around[i] <= known) removed.push_back(i);
  }
  for (size_t next = 0; next < removed.size(); ++next) {
    const size_t gone = removed[next];
    for (const size_t i : graph.near[gone]) {
      const bool stays = around[i] > known;
      around[i] -= padded[gone];
      if (stays && around[i] <= known) removed.push_back(i);
    }
  }
  std::vector<size_t> kept;
  for (size_t i = 0; i < padded.size(); ++i) {
    if (around[i] > known) kept.push_back(i);
  }
  return kept;
}

// The search over numbers of kept buffers, the largest first.
class StackTree {
 public:
  StackTree(const StackGraph& graph, Bytes known, const base::Stop* stop)
      : best_load_(known), work_(stop, kVisitsPerLook) {
    std::vector<Bytes> padded;
    for (const Bytes size : graph.sizes) padded.push_back(base::RoundUp(size, graph.granularity));
    positions_ = Reduce(graph, padded, known);
    base::SortBy(positions_, [&](size_t i) { return -padded[i]; });
    left_.assign(positions_.size(), 0);
    std::vector<size_t> number(padded.size(), Set::kNone);
    for (size_t i = 0; i < positions_.size(); ++i) number[positions_[i]] = i;
    for (const size_t position : positions_) {
      padded_.push_back(padded[position]);
      paddings_.push_back(padded[position] - graph.sizes[position]);
      Set& near = near_.emplace_back(positions_.size());
      for (const size_t other : graph.near[position]) {
        if (number[other] != Set::kNone) near.Insert(number[other]);
      }
    }
  }

  std::vector<size_t> Run() {
    Set all(positions_.size());
    for (size_t i = 0; i < positions_.size(); ++i) all.Insert(i);
    Extend(std::move(all), 0, 0);
    std::vector<size_t> stack;
    for (const size_t i : best_) stack.push_back(positions_[i]);
    std::sort(stack.begin(), stack.end());
    return stack;
  }

 private:
  // A candidate, and the most bytes of a stack among it and the candidates before it.
  struct Limit {
    size_t number;
    Bytes bytes;
  };

  // Searches all stacks that consist of the chosen buffers and candidates. The chosen ones have
  // padded sizes of `bytes` together, and the greatest padding `padding`.
  void Extend(Set candidates, Bytes bytes, Bytes padding) {
    if (bytes - padding > best_load_) {
      best_load_ = bytes - padding;
      best_ = chosen_;
    }
    const std::vector<Limit> limits = Colour(candidates);
    for (size_t left = limits.size(); left-- > 0;) {
      const auto& [number, most] = limits[left];
      if (bytes + most - padding <= best_load_) return;
      if (!Continues(static_cast<int64_t>(candidates.Words()))) return;
      candidates.Erase(number);
      chosen_.push_back(number);
      Extend(candidates.Intersection(near_[number]), bytes + padded_[number],
             std::max(padding, paddings_[number]));
      chosen_.pop_back();
    }
  }

  // Returns the candidates in the order in which colours use them up; none after a stop.
  std::vector<Limit> Colour(Set candidates) {
    std::vector<Limit> limits;
    std::vector<size_t> colour;
    Bytes taken = 0;
    for (size_t i = candidates.Next(0); i != Set::kNone; i = candidates.Next(i + 1))
      left_[i] = padded_[i];
    while (FindColour(candidates, colour)) {
      Bytes share = std::numeric_limits<Bytes>::max();
      for (const size_t i : colour) share = std::min(share, left_[i]);
      taken += share;
      for (const size_t i : colour) {
        left_[i] -= share;
        if (left_[i] > 0) continue;
        candidates.Erase(i);
        limits.push_back({i, taken});
      }
      const size_t visits = colour.size() * (1 + candidates.Words());
      if (!Continues(static_cast<int64_t>(visits))) return {};
    }
    return limits;
  }

  // Finds a maximal colour among the candidates, large buffers first. Returns false if it is empty.
  bool FindColour(Set candidates, std::vector<size_t>& colour) const {
    colour.clear();
    for (size_t i = candidates.Next(0); i != Set::kNone; i = candidates.Next(i + 1)) {
      colour.push_back(i);
      candidates.SubtractFrom(i, near_[i]);
    }
    return !colour.empty();
  }

  bool Continues(int64_t visits) {
    visits_ += visits;
    return visits_ <= kMostVisits && work_.Continues(visits);
  }

  // By number.
  std::vector<size_t> positions_;
  std::vector<Bytes> padded_;
  std::vector<Bytes> paddings_;
  std::vector<Set> near_;
  std::vector<Bytes> left_;  // of the padded sizes, while colours are found

  std::vector<size_t> chosen_;
  std::vector<size_t> best_;
  Bytes best_load_;
  int64_t visits_ = 0;
  base::PolledWork work_;
};

}  // namespace

Bytes LoadOfStack(const StackGraph& graph, std::span<const size_t> stack) {
  Bytes bytes = 0;
  Bytes padding = 0;
  for (const size_t i : stack) {
    const Bytes padded = base::RoundUp(graph.sizes[i], graph.granularity);
    bytes += padded;
    padding = std::max(padding, padded - graph.sizes[i]);
  }
  return bytes - padding;
}

std::vector<size_t> FindHeaviestStack(const StackGraph& graph, Bytes known,
                                      const base::Stop* stop) {
  return StackTree(graph, known, stop).Run();
}

}  // namespace tessera::search::allocate

// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/separated_stacks.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/sorting.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/allocate/heaviest_stack.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::allocate {
namespace {

using problem::Bytes;
using problem::Problem;

constexpr size_t kMostBuffers = 4'096;
constexpr size_t kMostSeeds = 256;
constexpr size_t kMostToChooseFrom = 64;
constexpr int64_t kMostGreedyVisits = 30'000'000;  // of a buffer in the list of another

class StackSearch {
 public:
  StackSearch(const Problem& problem, const Conflicts& conflicts, std::vector<int> buffers,
              Bytes granularity)
      : buffers_(std::move(buffers)),
        granularity_(granularity),
        near_(buffers_.size()),
        is_near_(buffers_.size(), false) {
    const auto size = [&](int i) { return problem.buffers[static_cast<size_t>(i)].size; };
    const auto padded = [&](int i) { return base::RoundUp(size(i), granularity); };
    base::SortBy(buffers_, [&](int i) { return -padded(i); });
    for (const int i : buffers_) {
      sizes_.push_back(size(i));
      padded_.push_back(padded(i));
    }
    number_.assign(problem.buffers.size(), kAbsent);
    for (size_t i = 0; i < buffers_.size(); ++i) number_[static_cast<size_t>(buffers_[i])] = i;
    Connect(problem, conflicts);
  }

  std::vector<std::vector<int>> Run(Bytes known, const base::Stop* stop) {
    std::vector<std::vector<size_t>> found = GrowAll();
    const StackGraph graph{sizes_, near_, granularity_};
    for (const std::vector<size_t>& stack : found)
      known = std::max(known, LoadOfStack(graph, stack));
    found.push_back(FindHeaviestStack(graph, known, stop));
    if (found.back().empty()) found.pop_back();
    std::vector<std::vector<int>> stacks;
    for (const std::vector<size_t>& positions : found) {
      std::vector<int>& stack = stacks.emplace_back();
      for (const size_t i : positions) stack.push_back(buffers_[i]);
      std::sort(stack.begin(), stack.end());
    }
    return stacks;
  }

 private:
  static constexpr size_t kAbsent = static_cast<size_t>(-1);

  std::vector<std::vector<size_t>> GrowAll() {
    std::vector<std::vector<size_t>> stacks;
    for (size_t seed = 0, grown = 0; seed < buffers_.size() && grown < kMostSeeds; ++seed) {
      if (!is_separate_[seed]) continue;
      ++grown;
      for (const bool by_choice : {false, true}) {
        if (visits_ < kMostGreedyVisits) stacks.push_back(Grow(seed, by_choice));
      }
    }
    return stacks;
  }

  // Finds which buffers conflict: those that meet in a sweep over the lifespans, unless they may
  // share addresses, and those that relations separate.
  void Connect(const Problem& problem, const Conflicts& conflicts) {
    std::vector<std::pair<problem::Lifespan, size_t>> lives;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      for (const problem::Lifespan& lifespan :
           problem.buffers[static_cast<size_t>(buffers_[i])].lifespans)
        lives.emplace_back(lifespan, i);
    }
    std::sort(lives.begin(), lives.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.lower, a.second) < std::pair(b.first.lower, b.second);
    });
    std::vector<std::pair<problem::Step, size_t>> alive;
    for (const auto& [lifespan, i] : lives) {
      const problem::Step now = lifespan.lower;
      std::erase_if(alive, [now](const auto& other) { return other.first <= now; });
      for (const auto& [end, j] : alive) {
        if (i == j || !conflicts(buffers_[i], buffers_[j])) continue;
        near_[i].push_back(j);
        near_[j].push_back(i);
      }
      alive.emplace_back(lifespan.upper, i);
    }
    is_separate_.assign(buffers_.size(), false);
    for (const problem::Relation& relation : problem.relations) {
      const size_t i = number_[static_cast<size_t>(relation.first)];
      const size_t j = number_[static_cast<size_t>(relation.second)];
      if (relation.kind != problem::RelationKind::kSeparate || i == kAbsent || j == kAbsent)
        continue;
      near_[i].push_back(j);
      near_[j].push_back(i);
      is_separate_[i] = is_separate_[j] = true;
    }
    for (std::vector<size_t>& list : near_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  std::vector<size_t> Grow(size_t seed, bool by_choice) {
    std::vector<size_t> stack = {seed};
    std::vector<size_t> left = near_[seed];
    while (!left.empty() && visits_ < kMostGreedyVisits) {
      const size_t next = by_choice ? FindBestChoice(left) : left.front();
      stack.push_back(next);
      left = NearIn(left, next);
    }
    return stack;
  }

  std::vector<size_t> NearIn(std::span<const size_t> left, size_t next) {
    visits_ += static_cast<int64_t>(left.size() + 2 * near_[next].size());
    for (const size_t i : near_[next]) is_near_[i] = true;
    std::vector<size_t> kept;
    std::copy_if(left.begin(), left.end(), std::back_inserter(kept),
                 [this](size_t i) { return is_near_[i]; });
    for (const size_t i : near_[next]) is_near_[i] = false;
    return kept;
  }

  size_t FindBestChoice(std::span<const size_t> left) {
    size_t best = left.front();
    Bytes most = -1;
    for (const size_t i : left.first(std::min(left.size(), kMostToChooseFrom))) {
      Bytes bytes = padded_[i];
      for (const size_t other : NearIn(left, i)) bytes += padded_[other];
      if (bytes <= most) continue;
      most = bytes;
      best = i;
    }
    return best;
  }

  // By position, the largest buffer first.
  std::vector<int> buffers_;
  Bytes granularity_;
  std::vector<Bytes> sizes_;
  std::vector<Bytes> padded_;              // the sizes, rounded up to the granularity
  std::vector<std::vector<size_t>> near_;  // ascending
  std::vector<bool> is_near_;              // of one buffer, while it is in use
  std::vector<bool> is_separate_;          // from some buffer, by a relation
  std::vector<size_t> number_;             // by buffer of the problem: its position
  int64_t visits_ = 0;
};

}  // namespace

std::vector<std::vector<int>> FindSeparatedStacks(const Problem& problem, int memory,
                                                  Bytes granularity, Bytes known,
                                                  const base::Stop* stop) {
  const Conflicts conflicts(problem);
  std::vector<int> buffers = BuffersOf(problem, memory);
  if (!conflicts.AnySeparate() || buffers.size() > kMostBuffers) return {};
  return StackSearch(problem, conflicts, std::move(buffers), granularity).Run(known, stop);
}

}  // namespace tessera::search::allocate

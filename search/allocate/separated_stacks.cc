#include "tessera/search/allocate/separated_stacks.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::allocate {
namespace {

using problem::Bytes;
using problem::Problem;

constexpr size_t kMostBuffers = 4'096;
constexpr size_t kMostSeeds = 256;
constexpr size_t kMostToChooseFrom = 64;

class StackSearch {
 public:
  StackSearch(const Problem& problem, const Conflicts& conflicts, std::vector<int> buffers,
              Bytes granularity)
      : buffers_(std::move(buffers)), near_(buffers_.size()), is_near_(buffers_.size(), false) {
    const auto size = [&](int i) {
      return base::RoundUp(problem.buffers[static_cast<size_t>(i)].size, granularity);
    };
    std::stable_sort(buffers_.begin(), buffers_.end(),
                     [&](int a, int b) { return size(a) > size(b); });
    for (const int i : buffers_) sizes_.push_back(size(i));
    for (size_t i = 0; i < buffers_.size(); ++i) {
      for (size_t j = 0; j < buffers_.size(); ++j) {
        if (i != j && conflicts(buffers_[i], buffers_[j])) near_[i].push_back(j);
      }
    }
  }

  std::vector<std::vector<int>> Run() {
    std::vector<std::vector<int>> stacks;
    for (size_t seed = 0; seed < std::min(buffers_.size(), kMostSeeds); ++seed) {
      for (const bool by_choice : {false, true}) stacks.push_back(Grow(seed, by_choice));
    }
    return stacks;
  }

 private:
  std::vector<int> Grow(size_t seed, bool by_choice) {
    std::vector<int> stack = {buffers_[seed]};
    std::vector<size_t> left = near_[seed];
    while (!left.empty()) {
      const size_t next = by_choice ? FindBestChoice(left) : left.front();
      stack.push_back(buffers_[next]);
      left = NearIn(left, next);
    }
    std::sort(stack.begin(), stack.end());
    return stack;
  }

  std::vector<size_t> NearIn(std::span<const size_t> left, size_t next) {
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
      Bytes bytes = sizes_[i];
      for (const size_t other : NearIn(left, i)) bytes += sizes_[other];
      if (bytes <= most) continue;
      most = bytes;
      best = i;
    }
    return best;
  }

  // By position, the largest buffer first.
  std::vector<int> buffers_;
  std::vector<Bytes> sizes_;
  std::vector<std::vector<size_t>> near_;  // ascending
  std::vector<bool> is_near_;              // of one buffer, while it is in use
};

}  // namespace

std::vector<std::vector<int>> FindSeparatedStacks(const Problem& problem, int memory,
                                                  Bytes granularity) {
  const Conflicts conflicts(problem);
  std::vector<int> buffers = BuffersOf(problem, memory);
  if (!conflicts.AnySeparate() || buffers.size() > kMostBuffers) return {};
  return StackSearch(problem, conflicts, std::move(buffers), granularity).Run();
}

}  // namespace tessera::search::allocate

#include "tessera/encoder/reasons/hitting_set.h"

#include <algorithm>

// Iterative deepening: is there a hitting set of 0, 1, 2, ... elements? Some set that is not hit yet must be, so the search branches on
// the elements of the shortest such set alone. Sets that are not hit and pairwise disjoint need an element each; when they are more
// than what is left, the branch is dead.
namespace tessera::encoder::reasons {
namespace {

bool Meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&b](int element) { return std::binary_search(b.begin(), b.end(), element); });
}

class Search {
 public:
  explicit Search(std::span<const std::vector<int>> sets) : sets_(sets) {}

  bool Extend(size_t left) {
    std::vector<const std::vector<int>*> open;
    for (const std::vector<int>& set : sets_) {
      if (!IsHit(set)) open.push_back(&set);
    }
    if (open.empty()) return true;
    if (CountDisjoint(open) > left) return false;
    const std::vector<int>& shortest = **std::min_element(
        open.begin(), open.end(), [](const auto* a, const auto* b) { return a->size() < b->size(); });
    for (const int element : shortest) {
      chosen_.push_back(element);
      if (Extend(left - 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  std::vector<int> Chosen() {
    std::sort(chosen_.begin(), chosen_.end());
    return chosen_;
  }

 private:
  bool IsHit(const std::vector<int>& set) const {
    return std::any_of(chosen_.begin(), chosen_.end(),
                       [&set](int element) { return std::binary_search(set.begin(), set.end(), element); });
  }

  static size_t CountDisjoint(const std::vector<const std::vector<int>*>& open) {
    std::vector<const std::vector<int>*> apart;
    for (const std::vector<int>* set : open) {
      const bool meets =
          std::any_of(apart.begin(), apart.end(), [set](const auto* other) { return Meet(*set, *other); });
      if (!meets) apart.push_back(set);
    }
    return apart.size();
  }

  std::span<const std::vector<int>> sets_;
  std::vector<int> chosen_;
};

}  // namespace

std::optional<std::vector<int>> FindHittingSet(std::span<const std::vector<int>> sets) {
  if (std::any_of(sets.begin(), sets.end(), [](const auto& set) { return set.empty(); })) return std::nullopt;
  for (size_t size = 0;; ++size) {
    Search search(sets);
    if (search.Extend(size)) return search.Chosen();
  }
}

}  // namespace tessera::encoder::reasons

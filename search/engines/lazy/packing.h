#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/engines/lazy/supported.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// Sets of buffers of one memory that pairwise conflict and live at one step, in the order of their
// steps: every such pair is in one of them. Each is a maximal set of buffers alive together or,
// where exclusive or colocated pairs break that up, one of the maximal cliques that cover it.
// Members ascend. At the stop some are missing. Cost: O(steps at which a buffer begins to live
// times buffers alive), and O(members squared) for each clique.
std::vector<std::vector<int>> FindSections(const problem::Problem& problem, int memory,
                                           const std::function<bool(int, int)>& conflict,
                                           const base::Stop& stop);

// A list of lists in one piece of memory.
template <typename T>
class CompressedLists {
 public:
  CompressedLists() = default;
  explicit CompressedLists(const std::vector<std::vector<T>>& lists) {
    for (const auto& list : lists) {
      items_.insert(items_.end(), list.begin(), list.end());
      ends_.push_back(items_.size());
    }
  }
  int Count() const { return static_cast<int>(ends_.size()) - 1; }
  std::span<const T> operator[](int i) const {
    const auto at = static_cast<size_t>(i);
    return {items_.data() + ends_[at], ends_[at + 1] - ends_[at]};
  }

 private:
  std::vector<T> items_;
  std::vector<size_t> ends_ = {0};
};

// Another buffer that must not share an address with this one.
struct Neighbour {
  int buffer = 0;
  View below = 0;  // OrderLiteral(below): this buffer lies below the other
};

// offset(to) >= offset(from) + distance, and + size(from) or + size(to) where said; sizes change,
// distances stay. The two may be swapped in sign: views of offsets, not buffers.
struct Difference {
  View from = 0;
  View to = 0;
  Bound distance = 0;
  int sized = -1;         // the buffer whose size is added; -1: none
  bool negative = false;  // it is subtracted instead
};

// No buffer of the memory may touch [begin, end).
struct Hole {
  Bound begin = 0;
  Bound end = 0;
};

// A Problem as the lazy engine sees it, in units of its granularity: all that stays when sizes and
// capacity change.
//
// Integers are numbered buffers first (their offsets), then memories (their ceilings, the capacity
// in force), then pairs (who lies below). A section is a set of buffers that must not share
// addresses with each other because they live at one step; only maximal ones are kept. Exclusive
// and colocated pairs break a section up into maximal cliques that cover it.
struct Packing {
  int buffers = 0;
  int memories = 0;
  problem::Bytes granularity = 1;  // bytes of a unit: divides whatever an offset can depend on
  std::vector<int> memory;         // of each buffer
  std::vector<Bound> alignment;
  std::vector<Bound> duration;  // steps that it lives
  std::vector<std::optional<Bound>> fixed;
  std::vector<std::optional<Bound>> hint;
  std::vector<std::pair<int, int>> pairs;  // first < second
  CompressedLists<Neighbour> neighbours;   // of each buffer
  std::vector<View> below;                 // buffers * buffers
  CompressedLists<int> sections;           // members
  std::vector<int> section_memory;
  CompressedLists<int> sections_of;     // of each buffer
  CompressedLists<Hole> holes;          // of each memory: ascending, disjoint, not touching
  std::vector<Difference> differences;  // of colocated and adjacent buffers
  std::vector<std::pair<int, int>> interchangeable;  // alike in everything: the first may lie below
  // In each memory where turning a solution upside down gives another: a pair whose first may lie
  // below.
  std::vector<std::pair<int, int>> mirrored;
  std::optional<Bound> reach;  // a height that every feasible packing can do with

  // OrderLiteral of it: i lies below j; -1 when the two may share addresses.
  View BelowView(int i, int j) const {
    return below[static_cast<size_t>(i) * static_cast<size_t>(buffers) + static_cast<size_t>(j)];
  }
  int CeilingOf(int m) const { return buffers + m; }
  Bound HighestCeiling() const { return reach.value_or(kFarthest / granularity); }
  // Who lies below whom when OrderLiteral(order) holds.
  std::pair<int, int> OrderedPair(View order) const {
    const auto& [first, second] = pairs[static_cast<size_t>(IntegerOf(order) - buffers - memories)];
    return (order & 1) == 0 ? std::pair(first, second) : std::pair(second, first);
  }
};

// Needs a Problem that FindUnsupported (support.h) passes; nullopt at the stop. Cost: O(buffers
// squared + members of sections squared; where some may share addresses, to the fourth power).
std::optional<Packing> MakePacking(const problem::Problem& problem, const problem::Ladder* ladder,
                                   const base::Stop& stop);

// The sizes of the Problem, or of one candidate of its ladder, in units.
std::vector<Bound> SizesOf(const Packing& packing, const problem::Problem& problem,
                           const problem::Ladder* ladder, size_t candidate);

}  // namespace tessera::search::engines::lazy

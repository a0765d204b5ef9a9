// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/problem.h"

// The steps of a Problem, divided into sections at every birth and death and reduced to the maximal
// sections.
//
//     a  |-------|                      Steps between two adjacent births or deaths are equal:
//     b      |-----------|              they are one section. A section whose buffers all live
//     c              |-------|          in an adjacent one adds nothing, so only the maximal
//         [a] [ab][b][bc] [c]           ones stay: {a b} and {b c} here, two instead of five.
//             ^^^^    ^^^^
//
// A maximal section begins with a birth and ends with a death. Two buffers live together at some
// step if and only if they share a maximal section. The greatest load occurs in a maximal section.
namespace tessera::search::allocate {

// Half-open range of section indices.
struct SectionRange {
  int first = 0;
  int last = 0;
  friend bool operator==(const SectionRange&, const SectionRange&) = default;
};

struct Sections {
  std::vector<problem::Step> steps;  // one step of each maximal section, ascending
  // Parallel to the given buffers: one range for each lifespan, ascending, none empty. Adjacent
  // ranges of a buffer with gaps may touch if nothing distinguishes the gap.
  std::vector<std::vector<SectionRange>> ranges;

  int Count() const { return static_cast<int>(steps.size()); }
};

// Returns the maximal sections of the buffers with the given indices. Cost: O(n log n) for n
// lifespans.
Sections FindSections(const problem::Problem& problem, std::span<const int> buffers);

// Returns the indices of the buffers that live in `memory`, ascending.
std::vector<int> BuffersOf(const problem::Problem& problem, int memory);

using problem::AddressRange;
using problem::Bytes;

// Larger than every address, and small enough that any size can be added to it.
inline constexpr Bytes kNoPosition = base::kMaxTotal / 2;

// The offsets that one buffer could take if it were alone: multiples of its alignment at which all
// its bytes lie inside one window. Reserved ranges divide windows; banks and spans can narrow them.
//
//     0      8        16          24                 size 6, alignment 4:
//     |#######|........|##########|.................   8 (not 12: it would end at 18), 24, 28, ...
class Positions {
 public:
  // `windows` are ascending, disjoint and do not touch. The last may extend to kNoPosition.
  Positions(std::vector<AddressRange> windows, Bytes alignment, Bytes size);

  // Returns the least position >= `offset`, or kNoPosition. `offset` must be at most kNoPosition
  // plus some size. Cost: O(log windows).
  Bytes AtLeast(Bytes offset) const { return plain_ ? (offset < 0 ? 0 : offset) : Search(offset); }

  // Returns the greatest position < `offset`, or -1.
  Bytes Below(Bytes offset) const {
    return plain_ ? (offset < 0 ? -1 : offset - 1) : SearchBelow(offset);
  }

  Bytes Size() const { return size_; }

 private:
  Bytes Search(Bytes offset) const;
  Bytes SearchBelow(Bytes offset) const;

  std::vector<AddressRange> windows_;
  Bytes alignment_;
  Bytes size_;
  bool plain_;  // every offset >= 0 is valid
};

// Returns the windows that the memory, its reserved ranges, and the buffer's span and allowed banks
// permit. Ignores the capacity.
std::vector<AddressRange> WindowsOf(const problem::Problem& problem, const problem::Buffer& buffer);

// Removes `hole` from the windows.
void Subtract(std::vector<AddressRange>& windows, AddressRange hole);

// Removes all `holes` from the windows, which ascend. Cost: O(windows + holes log holes).
void SubtractAll(std::vector<AddressRange>& windows, std::vector<AddressRange> holes);

// Ranges that are ascending, disjoint and do not touch.
using RangeList = std::vector<AddressRange>;

// Adds a range, and merges the ranges that it touches. Cost: O(log n) for the search, plus the
// ranges that are moved.
void Merge(RangeList& list, AddressRange range);

// Records which addresses are occupied at which sections, without a list of conflicting pairs.
//
//            [0 .. 8)            A segment tree over the sections. Each node has two address lists:
//          .----'----.           `whole`, occupied during all its sections, and `some`, occupied
//        [0 4)     [4 8)         during at least one. A placement writes O(log sections) nodes. The
//        .-'-.     .-'-.         addresses occupied anywhere in a lifespan are the union of `some`
//      [0 2)[2 4)[4 6)[6 8)      in the O(log sections) nodes that cover it and of `whole` in
//                                their ancestors.
//
// Lists are coalesced, so stacks of buffers become a few ranges, however many buffers there are.
class Occupancy {
 public:
  explicit Occupancy(int sections);

  void Insert(SectionRange sections, AddressRange addresses);

  // Appends the lists whose union is the set of addresses occupied in some of the sections. They
  // stay valid until the next Insert.
  void Collect(SectionRange sections, std::vector<const RangeList*>& lists) const;

 private:
  struct Node {
    RangeList whole;
    RangeList some;
  };

  void Insert(size_t node, SectionRange covered, SectionRange sections, AddressRange addresses);
  void Collect(size_t node, SectionRange covered, SectionRange sections,
               std::vector<const RangeList*>& lists) const;

  int width_;
  std::vector<Node> nodes_;  // 1 is the root, 2i and 2i+1 are the halves of i
};

enum class Fit : uint8_t {
  kFirst,  // the lowest free position
  kBest,   // the free position in the smallest gap; the lowest of equal ones
};

// Returns a position at which the buffer touches no range of the lists, or kNoPosition. Cost:
// O(ranges passed * log), by galloping cursors.
Bytes FindFit(const Positions& positions, const std::vector<const RangeList*>& taken, Fit fit);

// Returns whether no list touches the range.
bool IsFree(const std::vector<const RangeList*>& taken, AddressRange range);

}  // namespace tessera::search::allocate

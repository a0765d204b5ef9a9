#pragma once

#include <cstdint>
#include <vector>

#include "tessera/search/allocate/positions.h"
#include "tessera/search/allocate/sections.h"

namespace tessera::search {

// Ascending, disjoint, not touching.
using RangeList = std::vector<AddressRange>;

// Adds a range, merging what it touches. Cost: O(log n) to find its place, plus what is moved.
void Merge(RangeList& list, AddressRange range);

// Which addresses are taken when, without a list of conflicting pairs.
//
//            [0 .. 8)            A segment tree over the sections. Each node keeps two lists of addresses:
//          .----'----.           `whole`, taken during all its sections, and `some`, taken during at least
//        [0 4)     [4 8)         one. A placement writes O(log sections) nodes; what is taken anywhere in a
//        .-'-.     .-'-.         lifespan is the union of `some` in the O(log sections) nodes that make it
//      [0 2)[2 4)[4 6)[6 8)      up and of `whole` in their ancestors.
//
// Lists are coalesced, so stacks of buffers shrink to a few ranges, however many buffers there are.
class Occupancy {
 public:
  explicit Occupancy(int sections);

  void Insert(SectionRange sections, AddressRange addresses);

  // Appends the lists whose union is what is taken in some of the sections. They stay valid until the next
  // Insert.
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
  kBest,   // the free position in the smallest gap, the lowest of equals
};

// A position that touches no range of the lists, or kNowhere. Cost: O(ranges passed * log) thanks to
// galloping cursors.
Bytes FindFit(const Positions& positions, const std::vector<const RangeList*>& taken, Fit fit);

// Whether no list touches the range.
bool IsFree(const std::vector<const RangeList*>& taken, AddressRange range);

}  // namespace tessera::search

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// Section-pair cuts: what leaves between two sections makes room for what enters, below and above
// whoever stays.
//
//     section A                section B              k stays, l leaves, e enters. With the stayers' sizes
//     |-- l --|== k ==|  s  |  |   s  |== k ==|- e -|  taken off, the room is `free` = ceiling - stayers:
//
//         sum of the leavers below k + sum of the enterers above k <= free
//
// For below k lie the leavers and in A some of the stayers; above k the enterers and in B the rest
// of the stayers. Adding up, each stayer counts once, whether it lies below or above, so that the
// bound holds while the stayers' orders are open. Exchanging A and B turns it around. Where both
// sections are full, what leaves below k is exactly what enters below k.
//
// Each such row is linear over order literals: its sum follows the trail, and an entry that no
// longer fits is false. The reason is a few of the largest true entries and the ceiling. No rule
// that looks at one section at a time, nor bounds of offsets, draw this conclusion while stayers
// are open; on packings with little slack, up to a few per cent, most proofs need it
// (docs/lazy-engine.md).
//
// Sections are compared with their next in time. Cost: O(rows that an order is an entry of), which
// is few: a buffer leaves and enters once or twice among sections that a stayer is in.
class SectionPairCuts {
 public:
  // Compares each section with the `reach` next in time; 0: none. At the stop, if there is one,
  // fewer are compared.
  SectionPairCuts(Axis& axis, int reach, const base::Stop* stop = nullptr);

  // The sizes changed, and no order is known.
  void Reload();

  // Follow the orders of the trail.
  void OrderSet(View order);
  void OrderUndone(View order);

  void CeilingSank(int memory);
  void Sleep();
  bool Idle() const { return woken_.empty(); }
  // Draws the consequences of one row; false on a conflict.
  bool PropagateOne();

 private:
  struct Entry {
    View order = 0;  // OrderLiteral(order): the buffer is in the way
    int buffer = 0;
  };
  struct Row {
    int first_section = 0;
    int second_section = 0;
    uint32_t first = 0;  // of its entries, which the largest leads
    uint32_t count = 0;
    Bound stayers = 0;  // sum of sizes
    Bound sum = 0;      // of the true entries' sizes
    Bound largest = 0;  // size of an entry
  };
  struct Use {
    int row = 0;
    int buffer = 0;
  };

  void AddRows(int first_section, int second_section);
  int MemoryOf(const Row& row) const;
  Bound Free(const Row& row) const { return axis_.End(Side::kBottom, MemoryOf(row)) - row.stayers; }
  void Wake(int row);
  Reason Because(const Row& row, Bound entering);

  Axis& axis_;
  Trail& trail_;
  std::vector<Row> rows_;
  std::vector<Entry> entries_;
  CompressedLists<Use> uses_;  // of each view
  std::vector<char> awake_;
  std::vector<int> woken_;
};

}  // namespace tessera::search::engines::lazy

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// The rule of section-pair cuts: buffers that leave between two sections free the space for those
// that enter, below and above each buffer that stays.
//
//     section A                section B               k stays, l leaves, e enters. Without the
//     |-- l --|== k ==|  s  |  |   s  |== k ==|- e -|  sizes of the stayers, the space is
//                                                      `free` = ceiling - stayers:
//
//         sum of the leavers below k + sum of the enterers above k <= free
//
// Below k lie the leavers and, in A, some of the stayers. Above k lie the enterers and, in B, the
// other stayers. In the sum each stayer counts once, whether it lies below or above; so the bound
// holds while the orders of the stayers are open. Exchanging A and B gives the mirrored bound. If
// both sections are full, the leavers below k have exactly the size of the enterers below k.
//
// Each such row is linear over order literals. Its sum is updated with the trail, and an entry that
// no longer fits becomes false. The reason is a few of the largest true entries and the ceiling.
// Neither rules on one section at a time nor bounds of offsets derive this conclusion while stayers
// are open. On packings with little slack, up to a few per cent, most proofs need it
// (docs/lazy-engine.md).
//
// Sections are compared with the next ones in time. Cost: O(rows that have an order as an entry).
// These are few: a buffer leaves and enters once or twice among the sections that contain a stayer.
class SectionPairCuts {
 public:
  // Compares each section with the next `reach` sections in time. `stop` may be null; after a stop,
  // fewer sections are compared.
  SectionPairCuts(Axis& axis, int reach, const base::Stop* stop = nullptr);

  // Must be called when the sizes have changed and no order is known.
  void Reload();

  // OrderSet and OrderUndone must be called when an order literal is dispatched and when it is
  // undone.
  void OrderSet(View order);
  void OrderUndone(View order);

  void CeilingSank(int memory);
  void Sleep();
  bool Idle() const { return woken_.empty(); }
  // Derives the consequences of one row. Returns false on a conflict.
  bool PropagateOne();

 private:
  struct Entry {
    View order = 0;  // OrderLiteral(order): the buffer is on the counted side
    int buffer = 0;
  };
  struct Row {
    int first_section = 0;
    int second_section = 0;
    uint32_t first = 0;  // of its entries; the largest is first
    uint32_t count = 0;
    Bound stayers = 0;  // sum of sizes
    Bound sum = 0;      // of the true entries' sizes
    Bound largest = 0;  // size of an entry
  };
  struct Use {
    int row = 0;
    int buffer = 0;
  };

  bool FillUses(const base::Stop* stop);
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

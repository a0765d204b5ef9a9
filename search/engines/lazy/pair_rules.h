// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// The propagation between two integers.
//
//     order    i before j, floor(i) >= a           imply   floor(j) >= a + size(i)
//     squeeze  floor(i) + size(i) > latest(j)      implies j before i
//     ceiling  ceiling <= c                        implies offset(i) <= c - size(i)
//     hole     end of i > begin of a hole          implies offset(i) >= end of the hole
//     tie      offset(j) >= offset(i) + distance, unconditionally (colocate, adjacent)
//
// Together the rules are complete: if every offset is fixed and nothing fails, the placement is
// valid. Reasons of order, ceiling and tie are shiftable (trail.h); squeeze puts all of its slack
// on i. Each change costs O(neighbours).
class PairRules {
 public:
  explicit PairRules(Axis& axis);

  // Each of these functions derives the consequences of a change and returns false on a conflict.
  bool FloorRose(Side side, int buffer);
  bool CeilingSank(int memory);
  bool OrderSet(View order);

 private:
  bool RaiseOver(Side side, int before, int after, BoundLiteral order);
  bool Squeeze(Side side, int before, int after, BoundLiteral order);
  bool LeaveHole(Side side, int buffer);
  bool Tie(View from);

  Axis& axis_;
  Trail& trail_;
  CompressedLists<Difference> ties_;           // by view
  std::vector<std::vector<int>> inhabitants_;  // of each memory
};

// The rule that every movable buffer rests on the bottom, on another buffer, or on a hole.
//
//     |  .----.             If i begins at 1 or more, it begins where a supporter ends:
//     |--|  i |----.        offset(i) >= least of floor(j) + size(j) over the j that may lie below
//     |  '----'  j |        it and still reach it
//
// The rule is sound: take a solution and let all buffers sink until none can, keeping the order of
// every pair. The result is a solution in which all buffers rest (the canonical solutions of
// MiniMalloc, and the bottom-left arguments of two-dimensional packing, Baker et al. 1980). Orders
// do not change, so the rule is compatible with an imposed order of interchangeable and mirrored
// pairs. It is not compatible with ties between offsets, nor with clauses of the caller. It stays
// valid for smaller ceilings, but not for other sizes (solver.h, Implies).
//
// It excludes useless positions of a buffer above its floor, as edge finding does if sections have
// no slack. A reason names all neighbours, so clauses grow longer: proofs need as many conflicts as
// without the rule, each at a higher cost, while some feasible packings with slack are found
// immediately. So it is off by default. It does not run again for a buffer while its stored
// supporter remains valid. Cost: O(neighbours) per query.
class BottomLeftRule {
 public:
  explicit BottomLeftRule(Axis& axis);

  void FloorRose(Side side, int buffer);
  void OrderSet(View order);
  void Sleep();
  bool Idle() const { return woken_.empty(); }
  bool PropagateOne();

 private:
  struct Support {
    Bound top = 0;  // least end of a supporter
    int buffer = -1;
  };

  void Wake(int buffer);
  bool Reaches(int supporter, Bound floor) const;
  Support FindSupport(int buffer) const;
  bool RaiseTo(int buffer, Bound top);

  Axis& axis_;
  Trail& trail_;
  std::vector<int> supporters_;  // of each buffer: the last one found
  std::vector<char> awake_;
  std::vector<int> woken_;
};

}  // namespace tessera::search::engines::lazy

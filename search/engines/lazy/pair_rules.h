#pragma once

#include <vector>

#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// What follows from two integers at a time.
//
//     order    i before j, floor(i) >= a           imply   floor(j) >= a + size(i)
//     squeeze  floor(i) + size(i) > latest(j)      implies j before i
//     ceiling  ceiling <= c                        implies offset(i) <= c - size(i)
//     hole     end of i > begin of a hole          implies offset(i) >= end of the hole
//     tie      offset(j) >= offset(i) + distance, unconditionally (colocate, adjacent)
//
// Together they are complete: when every offset is fixed and nothing fails, the placement is valid.
// Reasons of order, ceiling and tie are shiftable (trail.h); squeeze puts all of its slack on i.
// Each change costs O(neighbours).
class PairRules {
 public:
  explicit PairRules(Axis& axis);

  // Each draws the consequences of a change; false on a conflict.
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

// Every movable buffer rests: at the bottom, on another buffer, or on a hole.
//
//     |  .----.                        i begins at 1 or more, so it begins where a supporter ends:
//     |--|  i |----.                   offset(i) >= least of floor(j) + size(j) over the j that may lie below
//     |  '----'  j |                   it and still reach it
//
// Nothing is lost: let all buffers of a solution sink until none can, keeping who lies below whom,
// and one is found in which all rest (the canonical solutions of MiniMalloc, and of two-dimensional
// packing's bottom-left arguments, Baker et al. 1980). Orders stay, so the rule agrees with asking
// interchangeable and mirrored pairs for an order; it does not agree with ties between offsets, nor
// with clauses of the caller. Smaller ceilings keep it, other sizes do not (solver.h, Implies).
//
// It denies a buffer the useless positions above its floor, as edge finding does where sections
// have no slack. A reason names all neighbours, so clauses grow longer: proofs need as many
// conflicts as without, each dearer, while some feasible packings with slack are found at once.
// Hence it is off unless asked for. A remembered supporter keeps the rule quiet while it can serve.
// Cost: O(neighbours) a question.
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

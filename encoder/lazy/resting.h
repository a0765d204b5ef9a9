#pragma once

#include <vector>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// Every movable buffer rests: at the bottom, on another buffer, or on a hole.
//
//     |  .----.                        i begins at 1 or more, so it begins where a supporter ends:
//     |--|  i |----.                   offset(i) >= least of floor(j) + size(j) over the j that may lie below
//     |  '----'  j |                   it and still reach it
//
// Nothing is lost: let all buffers of a solution sink until none can, keeping who lies below whom, and one is
// found in which all rest (the canonical solutions of MiniMalloc, and of two-dimensional packing's bottom-left
// arguments, Baker et al. 1980). Orders stay, so the rule agrees with asking interchangeable and mirrored pairs
// for an order; it does not agree with ties between offsets, nor with clauses of the caller. Smaller ceilings
// keep it, other sizes do not (solver.h, Implies).
//
// It denies a buffer the useless positions above its floor, as edge finding does where sections have no slack.
// A reason names all neighbours, so clauses grow longer: proofs need as many conflicts as without, each dearer,
// while some feasible packings with slack are found at once. Hence it is off unless asked for. A remembered
// supporter keeps the rule quiet while it can serve. Cost: O(neighbours) a question.
class RestingRule {
 public:
  explicit RestingRule(Axis& axis);

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

}  // namespace tessera::encoder::lazy

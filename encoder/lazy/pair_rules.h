#pragma once

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// What follows from two integers at a time.
//
//     order    i before j, floor(i) >= a           imply   floor(j) >= a + size(i)
//     squeeze  floor(i) + size(i) > latest(j)      implies j before i
//     ceiling  ceiling <= c                        implies offset(i) <= c - size(i)
//     hole     end of i > begin of a hole          implies offset(i) >= end of the hole
//     tie      offset(j) >= offset(i) + distance, unconditionally (colocate, adjacent)
//
// Together they are complete: when every offset is fixed and nothing fails, the placement is valid. Reasons of
// order, ceiling and tie are shiftable (trail.h); squeeze puts all of its slack on i. Each change costs
// O(neighbours).
class PairRules {
 public:
  explicit PairRules(Axis& axis);

  // Each draws the consequences of a change; false on a conflict.
  bool FloorRose(Side side, int buffer);
  bool CeilingSank(int memory);
  bool OrderSet(View order);

 private:
  bool RaiseOver(Side side, int before, int after, Literal order);
  bool Squeeze(Side side, int before, int after, Literal order);
  bool LeaveHole(Side side, int buffer);
  bool Tie(View from);

  Axis& axis_;
  Trail& trail_;
  Lists<Difference> ties_;                     // by view
  std::vector<std::vector<int>> inhabitants_;  // of each memory
};

}  // namespace tessera::encoder::lazy

#pragma once

#include <array>
#include <vector>

#include "tessera/encoder/lazy/axis.h"
#include "tessera/encoder/lazy/order_matrix.h"

namespace tessera::encoder::lazy {

// Edge finding on sections (Carlier and Pinson 1989, for one machine; a section is a machine, addresses are its
// time, sizes the durations, the ceiling everybody's deadline).
//
// Sort a section by floors. Each suffix S begins at its least floor l and needs s, the sum of its sizes:
//
//     0        l                          end       overload:  l + s > end, no solution
//     |   j....|[---S---][--S--][-S-]......|        edge:      l + s + size(j) > end for a j outside S, so
//                                                              j comes before every member of S
//
// Weakened explanations: an overload of S needs floors of end - s + 1 only, an edge end - s - size(j) + 1; one
// threshold serves all, and members whose floor reaches it from the start drop out. If all do, what is left
// goes to the ceiling, so that a refuted capacity refutes as many others as it can.
//
// A fixed j needs no edges: the pair rules settled it when it was fixed.
//
// Cost: O(members log members) for a section in which nothing moves, insertion sort keeping nearly sorted
// orders; O(members squared) when edges appear.
class EdgeFinding {
 public:
  EdgeFinding(Axis& axis, const OrderMatrix& orders);

  void Wake(Side side, int section);
  void WakeAll();
  // Forgets who was woken: after backtracking.
  void Sleep();
  bool Idle() const { return woken_.empty(); }
  // Draws the consequences of one woken section; false on a conflict.
  bool PropagateOne();

 private:
  struct Member {
    Bound floor = 0;
    int buffer = 0;
  };
  struct Woken {
    Side side = Side::kBottom;
    int section = 0;
  };

  bool Propagate(Side side, int section);
  void Sort(Side side, int section);
  bool Overload(Side side, int memory, size_t first, Bound sum);
  bool FindEdges(Side side, int memory, size_t first, Bound sum, Bound room);
  bool PutBefore(Side side, int memory, size_t outside, size_t first, size_t last, Bound threshold);
  Reason BecauseSuffix(Side side, int memory, size_t first, Bound threshold, Bound sum);

  Axis& axis_;
  Trail& trail_;
  const OrderMatrix& known_;
  std::array<std::vector<int>, 2> orders_;  // members of all sections, each by floor as last seen
  std::vector<size_t> starts_;              // of each section in them
  std::array<std::vector<bool>, 2> awake_;
  std::vector<Woken> woken_;
  std::vector<Member> members_;       // of the section at hand, ascending
  BufferSet suffix_;                  // members from the one at hand on
  std::vector<Bound> largest_;        // size among the movable members before each
  std::vector<size_t> settled_from_;  // each member is already known to come before all from here on
};

}  // namespace tessera::encoder::lazy

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// Edge finding on sections. Carlier and Pinson (1989) define it for one machine: here a section is
// the machine, addresses are its time, sizes are the durations, and the ceiling is the deadline of
// all jobs.
//
// Sort a section by floors. Each suffix S begins at its least floor l and needs s, the sum of its
// sizes:
//
//     0        l                          end     overload:  l + s > end, no solution
//     |   j....|[---S---][--S--][-S-]......|      edge:      l + s + size(j) > end for a j outside
//                                                            S, so j comes before every member of S
//
// Explanations are weakened: an overload of S needs only floors of end - s + 1, and an edge needs
// only floors of end - s - size(j) + 1. One threshold serves all members, and members whose initial
// floor reaches it are omitted. If all are omitted, the remaining slack goes to the ceiling, so
// that a refuted capacity refutes as many others as possible.
//
// A fixed j needs no edges, because the pair rules handled it when it was fixed.
//
// Cost: O(members log members) for a section in which nothing moves, since insertion sort keeps
// nearly sorted orders; O(members squared) when edges appear.
class EdgeFinding {
 public:
  EdgeFinding(Axis& axis, const OrderMatrix& orders);

  void Wake(Side side, int section);
  void WakeAll();
  // Clears the wake-up list. Must be called after backtracking.
  void Sleep();
  bool Idle() const { return woken_.empty(); }
  // Derives the consequences of one woken section. Returns false on a conflict.
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
  // members of all sections, each sorted by the last known floor
  std::array<std::vector<int>, 2> orders_;
  std::vector<size_t> starts_;  // of each section in them
  std::array<std::vector<bool>, 2> awake_;
  std::vector<Woken> woken_;
  std::vector<Member> members_;  // of the current section, ascending
  BufferSet suffix_;             // members from the current one on
  std::vector<Bound> largest_;   // size among the movable members before each
  // By member: it is known to come before all members from this one on.
  std::vector<size_t> settled_from_;
};

// Section energy: the buffers that must come before a given buffer in one section all need space
// before it.
//
//     |      l ......|[----][--][------]|  i     floor(i) >= l + sum of sizes, for the members of
//                    '---- before i ----'        one section that are known to come before i and
//                                                whose floors are l or more
//
// The pair rules see only one chain of such members at a time. Energy needs no order among them. It
// is useful only while orders are decided, in sections with little slack, because only there a
// floor raised by a sum meets another bound. While floors are decided, on the way to a placement,
// it costs more than it saves. It runs only when orders change; the pair rules handle floors that
// rise later.
//
// The reason is shiftable: if l and the raised floor sink by the same amount, the sum stays valid.
// Cost: O(members log members), and one addition for each section that a member shares with the
// buffer.
class SectionEnergy {
 public:
  // Considers sections whose slack is at most `slack_percent` per cent of the ceiling.
  SectionEnergy(Axis& axis, int slack_percent);

  // Must be called when the sizes have changed.
  void Reload();

  // Must be called when a buffer is ordered before this one.
  void Wake(Side side, int buffer);
  void Sleep();
  bool Idle() const { return woken_.empty(); }
  bool PropagateOne();

 private:
  struct Member {
    Bound floor = 0;
    int buffer = 0;
  };
  struct Woken {
    Side side = Side::kBottom;
    int buffer = 0;
  };

  void FindTight(int memory, Bound ceiling);
  bool Propagate(Side side, int buffer);
  void Collect(Side side, int buffer);
  bool Raise(Side side, int buffer, int section, size_t last, Bound floor);
  const uint64_t* TightOf(int buffer) const {
    return tight_of_.data() + static_cast<size_t>(buffer) * width_;
  }
  template <typename Visit>
  void ForTightSectionsOfBoth(int i, int j, Visit visit) const;

  Axis& axis_;
  Trail& trail_;
  int slack_percent_;
  size_t width_;                    // words for a set of sections
  std::vector<Bound> loads_;        // of sections
  std::vector<Bound> ceilings_;     // of memories, for which tight_of_ holds
  std::vector<uint64_t> tight_of_;  // of each buffer: the tight sections that contain it
  std::array<std::vector<bool>, 2> awake_;
  std::vector<Woken> woken_;
  std::vector<Member> members_;  // that come before the current buffer, the highest floor first
  std::vector<Bound> sums_;      // of each section: the sizes of the members seen so far
};

}  // namespace tessera::search::engines::lazy

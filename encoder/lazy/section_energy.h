#pragma once

#include <array>
#include <vector>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// Section energy: whoever must come before a buffer in one section fills the room before it together.
//
//     |      l ......|[----][--][------]|  i        floor(i) >= l + sum of sizes, for the members of one section
//                    '---- before i ----'           known to come before i whose floors are l or more
//
// The pair rules see only one chain of such members at a time; energy needs no order among them. It pays where
// a section has little slack, since only there a floor raised by a sum meets something; on the rest it doubles
// the time of feasible packings. It is asked on changes of order alone: floors that rise later are left to the
// pair rules.
//
// The reason is shiftable: the sum stays, l and the raised floor sink together. Cost: O(members log members) a
// section.
class SectionEnergy {
 public:
  // Looks at sections whose slack is at most `slack_percent` hundredths of the ceiling.
  SectionEnergy(Axis& axis, int slack_percent);

  // The sizes changed.
  void Reload();
  // Looks at other sections from here on.
  void SetSlack(int percent);

  // Somebody was put before the buffer.
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

  bool IsTight(int section);
  void FindTight(int memory, Bound ceiling);
  bool Propagate(Side side, int buffer, int section);
  Bound Collect(Side side, int buffer, int section);
  bool Raise(Side side, int buffer, size_t last, Bound floor);

  Axis& axis_;
  Trail& trail_;
  int slack_percent_;
  std::vector<Bound> loads_;     // of sections
  std::vector<Bound> ceilings_;  // of memories, for which tight_ holds
  std::vector<char> tight_;      // sections
  std::array<std::vector<bool>, 2> awake_;
  std::vector<Woken> woken_;
  std::vector<Member> members_;  // that come before the buffer at hand
};

}  // namespace tessera::encoder::lazy

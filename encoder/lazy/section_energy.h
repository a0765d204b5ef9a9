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
// a section has little slack, since only there a floor raised by a sum meets something; elsewhere it costs more
// than it gives. It is asked on changes of order alone: floors that rise later are left to the pair rules
// (measured: FINDINGS of the prototype, and here).
//
// The reason is shiftable: the sum stays, l and the raised floor sink together. Cost: O(members log members) a
// section.
class SectionEnergy {
 public:
  // Looks at sections whose slack is at most `slack_percent` hundredths of the ceiling.
  SectionEnergy(Axis& axis, int slack_percent);

  // The sizes changed.
  void Reload();

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

  bool HasLittleSlack(int section) const;
  bool Propagate(Side side, int buffer, int section);
  Bound Collect(Side side, int buffer, int section);
  bool Raise(Side side, int buffer, size_t last, Bound floor);

  Axis& axis_;
  Trail& trail_;
  int slack_percent_;
  std::vector<Bound> loads_;
  std::array<std::vector<bool>, 2> awake_;
  std::vector<Woken> woken_;
  std::vector<Member> members_;  // that come before the buffer at hand
};

}  // namespace tessera::encoder::lazy

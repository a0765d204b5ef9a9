#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// Section energy: whoever must come before a buffer in one section fills the room before it together.
//
//     |      l ......|[----][--][------]|  i        floor(i) >= l + sum of sizes, for the members of one section
//                    '---- before i ----'           known to come before i whose floors are l or more
//
// The pair rules see only one chain of such members at a time; energy needs no order among them. It pays where
// a section has little slack, since only there a floor raised by a sum meets something, and while orders are
// decided; where floors are, on the way to a placement, it costs more than it saves. It is asked on changes of
// order alone: floors that rise later are left to the pair rules.
//
// The reason is shiftable: the sum stays, l and the raised floor sink together. Cost: O(members log members),
// and one addition for each section that a member shares with the buffer.
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
  std::vector<uint64_t> tight_of_;  // of each buffer: the tight sections that it is in
  std::array<std::vector<bool>, 2> awake_;
  std::vector<Woken> woken_;
  std::vector<Member> members_;  // that come before the buffer at hand, the highest floor first
  std::vector<Bound> sums_;      // of each section: the sizes of those seen
};

}  // namespace tessera::encoder::lazy

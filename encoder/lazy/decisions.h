#pragma once

#include <cstdint>
#include <vector>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// What to assume next: the movable buffer of the lowest floor is put on its floor.
//
// Lowest floor first builds placements from the bottom, as a skyline does, so that sections fill without holes;
// among equal floors the buffer that took part in the most recent conflicts goes first (activity: Moskewicz et
// al. 2001), at the beginning the one of the largest area. Learned clauses turn a refuted "on the floor" into
// "above it". Cost: O(buffers) a decision, which is little beside its propagation.
//
// Where hints are followed, a buffer whose hint lies between its bounds is first asked to begin at its hint or
// later, and then put on its floor; lower hints go first. Booleans of the caller come last, as false.
class Decisions {
 public:
  Decisions(Axis& axis, uint64_t seed);

  void Bump(int integer);
  void Decay() { increment_ /= kDecay; }

  void FollowHints(bool follow) { follow_hints_ = follow; }

  // Opens a level with the next assumption; false when every buffer is fixed.
  bool Decide();

 private:
  static constexpr double kDecay = 0.95;

  bool DecideBoolean();
  bool Precedes(int i, int j) const;
  Bound FloorOf(int buffer) const;
  bool HintIsOpen(int buffer) const;

  Axis& axis_;
  bool follow_hints_ = false;
  double increment_ = 1;
  std::vector<double> activity_;  // of buffers
};

}  // namespace tessera::encoder::lazy

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/encoder/lazy/activity_heap.h"
#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

// What to assume next, in one of two moods, which a restart may change.
//
// *Floors*: the movable buffer of the lowest floor is put on its floor. This builds placements from the bottom,
// as a skyline does, so that sections fill without holes; among equal floors the buffer that took part in the
// most recent conflicts goes first (activity: Moskewicz et al. 2001), at the beginning the one of the largest
// area. Learned clauses turn a refuted "on the floor" into "above it". Cost: O(buffers).
//
// *Orders*: the open pair of the highest activity gets the order that it had last, at first the one that its
// middles suggest. A proof that nothing fits speaks of orders, not of offsets: with 1 to 2 % slack this mood
// alone can need ten times fewer conflicts, or never end, and it finds tight packings late. So floors get most
// runs (options.h). When no pair is open, floors finish the placement. Cost: O(log pairs).
//
// Where hints are followed, a buffer whose hint lies between its bounds is first asked to begin at its hint or
// later, and then put on its floor; lower hints go first. Booleans of the caller come last, as false.
class Decisions {
 public:
  enum class Mood : uint8_t { kFloors, kOrders };

  Decisions(Axis& axis, uint64_t seed);

  void Bump(int integer);
  void Decay() { increment_ /= kDecay; }

  void FollowHints(bool follow) { follow_hints_ = follow; }
  Mood mood() const { return mood_; }
  void SetMood(Mood mood) { mood_ = mood; }

  // An order literal is undone: its pair is open again, and remembers it.
  void Reopen(View order);

  // Opens a level with the next assumption; false when nothing is open.
  bool Decide();

 private:
  static constexpr double kDecay = 0.95;

  int FirstPair() const { return axis_.packing().buffers + axis_.packing().memories; }
  void Rescale();
  bool DecideFloor();
  bool DecideOrder();
  bool DecideBoolean();
  View PhaseOf(int pair) const;
  bool Precedes(int i, int j) const;
  Bound FloorOf(int buffer) const;
  bool HintIsOpen(int buffer) const;
  void Assume(Literal literal);

  Axis& axis_;
  Mood mood_ = Mood::kFloors;
  bool follow_hints_ = false;
  double increment_ = 1;
  std::vector<double> activity_;  // of buffers
  ActivityHeap pairs_;            // holds every open pair, and some that are not
  std::vector<View> phases_;      // of pairs: the order held last, or -1
};

}  // namespace tessera::encoder::lazy

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::lazy {

// A binary heap of the numbers below n by activity, with the greatest on top; among equals, the
// lower number comes first. Activities can be raised in place. Cost: O(log n) per operation.
class ActivityHeap {
 public:
  explicit ActivityHeap(std::vector<double> activities)
      : activities_(std::move(activities)), places_(activities_.size(), -1) {
    for (size_t item = 0; item < activities_.size(); ++item) Push(static_cast<int>(item));
  }

  bool Empty() const { return heap_.empty(); }
  double ActivityOf(int item) const { return activities_[static_cast<size_t>(item)]; }

  void Push(int item) {
    if (places_[static_cast<size_t>(item)] >= 0) return;
    heap_.push_back(item);
    RiseFrom(heap_.size() - 1);
  }

  int Pop() {
    const int top = heap_.front();
    const int last = heap_.back();
    heap_.pop_back();
    places_[static_cast<size_t>(top)] = -1;
    if (!heap_.empty()) {
      heap_[0] = last;
      SinkFrom(0);
    }
    return top;
  }

  void Raise(int item, double by) {
    activities_[static_cast<size_t>(item)] += by;
    const int place = places_[static_cast<size_t>(item)];
    if (place >= 0) RiseFrom(static_cast<size_t>(place));
  }

  void Scale(double factor) {
    for (double& activity : activities_) activity *= factor;
  }

 private:
  bool Precedes(int a, int b) const {
    const double left = ActivityOf(a);
    const double right = ActivityOf(b);
    return left != right ? left > right : a < b;
  }
  void Put(size_t place, int item) {
    heap_[place] = item;
    places_[static_cast<size_t>(item)] = static_cast<int>(place);
  }
  void RiseFrom(size_t place) {
    const int item = heap_[place];
    for (; place > 0 && Precedes(item, heap_[(place - 1) / 2]); place = (place - 1) / 2) {
      Put(place, heap_[(place - 1) / 2]);
    }
    Put(place, item);
  }
  void SinkFrom(size_t place) {
    const int item = heap_[place];
    while (2 * place + 1 < heap_.size()) {
      size_t child = 2 * place + 1;
      if (child + 1 < heap_.size() && Precedes(heap_[child + 1], heap_[child])) ++child;
      if (!Precedes(heap_[child], item)) break;
      Put(place, heap_[child]);
      place = child;
    }
    Put(place, item);
  }

  std::vector<double> activities_;
  std::vector<int> heap_;
  std::vector<int> places_;  // of each item in heap_; -1: not there
};

// Selects the next assumption, in one of two modes ("moods"), which a restart may change.
//
// *Floors*: the movable buffer with the lowest floor is placed on its floor. This builds placements
// from the bottom, as a skyline does, so that sections fill without holes. Among equal floors, the
// buffer that took part in the most recent conflicts comes first (activity: Moskewicz et al. 2001);
// initially, the one with the largest area. Learned clauses turn a refuted "on the floor" into
// "above it". Cost: O(buffers).
//
// *Orders*: the open pair with the highest activity gets the order that it had last; initially, the
// one that the middles of the buffers suggest. A proof of infeasibility concerns orders, not
// offsets. With 1 to 2 % slack this mood alone can need ten times fewer conflicts, but it can also
// fail to end, and it finds tight packings late. So most runs use floors (lazy_engine.h). When no
// pair is open, floors finish the placement. Cost: O(log pairs).
//
// If hints are followed, a buffer whose hint lies between its bounds is first required to begin at
// its hint or later, and then placed on its floor; lower hints come first. Booleans of the caller
// are decided last, as false.
class Decisions {
 public:
  enum class Mood : uint8_t { kFloors, kOrders };

  Decisions(Axis& axis, uint64_t seed);

  void Bump(int integer);
  void Decay() { increment_ /= kDecay; }

  void FollowHints(bool follow) { follow_hints_ = follow; }
  Mood mood() const { return mood_; }
  void SetMood(Mood mood) { mood_ = mood; }

  // Must be called when an order literal is undone: its pair is open again and keeps the order as
  // its phase.
  void Reopen(View order);

  // Opens a level with the next assumption. Returns false if nothing is open.
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
  void Assume(BoundLiteral literal);

  Axis& axis_;
  Mood mood_ = Mood::kFloors;
  bool follow_hints_ = false;
  double increment_ = 1;
  std::vector<double> activity_;  // of buffers
  ActivityHeap pairs_;            // holds every open pair, and some closed ones
  std::vector<View> phases_;      // of pairs: the order held last, or -1
};

}  // namespace tessera::search::engines::lazy

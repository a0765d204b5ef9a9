#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::encoder::lazy {

// A binary heap of the numbers below n by activity, the greatest on top, the lower number first among equals.
// Activities can be raised in place. Cost: O(log n) an operation.
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

}  // namespace tessera::encoder::lazy

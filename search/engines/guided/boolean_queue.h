// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::guided {

// A queue of the open Booleans. The Boolean that took most part in recent dead ends comes first
// (activity: Moskewicz et al. 2001). Before the first dead end, Booleans that were made later come
// first: banks and modes before orders of pairs. A Boolean gets its last value, initially false.
// Cost: O(log n) for each change.
class BooleanQueue {
 public:
  // Contains the integers of the trail from `first` on, but not those that are added later.
  BooleanQueue(const lazy::Trail& trail, int first);

  // Notes that the integer took part in a dead end.
  void Note(int integer);
  // Must be called after each dead end.
  void Age();
  // Must be called for each change of the trail that is undone.
  void Reopen(lazy::View view);

  // Returns the view of the next literal to assume; -1 if no Boolean is open.
  lazy::View Next();

 private:
  bool Holds(int integer) const {
    return integer >= first_ && integer - first_ < static_cast<int>(values_.size());
  }

  const lazy::Trail& trail_;
  int first_;
  lazy::ActivityHeap heap_;         // of integers, less first_
  std::vector<lazy::View> values_;  // the views that were true last
  double increment_ = 1;
};

}  // namespace tessera::search::engines::guided

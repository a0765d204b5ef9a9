// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::guided {

// The open Booleans, the one that took most part in recent dead ends first (activity: Moskewicz et
// al. 2001). Before there are any, those made last come first: banks and modes rather than orders
// of pairs. A Boolean gets the value that it had last, at first false. Cost: O(log n) for each
// change.
class BooleanQueue {
 public:
  // Integers from `first` on; later ones of the trail are not part of it.
  BooleanQueue(const lazy::Trail& trail, int first);

  void Note(int integer);
  // After each dead end.
  void Age();
  // Must be called for each change of the trail that is undone.
  void Reopen(lazy::View view);

  // The view of the next literal to assume; -1 if nothing is open.
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

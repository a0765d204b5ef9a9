#pragma once

#include <cstddef>
#include <vector>

namespace tessera::plan::lowering {

// Which of many events comes before which, told as they arrive in an order that agrees.
//
// Events are strung on chains, on each of which every one comes before the next. An event knows for each chain how far it has
// passed before it; so `Precedes` looks at one number. A new event goes on a chain that ends before it, or opens one:
//
//     chain 0   a ----> c ----> e          e knows: all of chain 0 up to c, of chain 1 up to b
//                \             /
//     chain 1     '--> b -----'            Mattern 1989, vector clocks; chains in place of processes
//
// Memory and time: events times chains. Programs that wait for buffers have as many chains as jobs that run at once.
class Precedence {
 public:
  // An event after those of `before` and whatever comes before them; they are numbers of events. Gives its own, counted from 0.
  int Add(const std::vector<int>& before);

  bool Precedes(int earlier, int later) const;

  // Those after which none of the others comes, ascending.
  std::vector<int> LatestOf(std::vector<int> events) const;

 private:
  struct Event {
    size_t chain = 0;
    int rank = 0;             // on its chain
    std::vector<int> passed;  // by chain: how many come before; chains beyond have none
  };

  std::vector<Event> events_;
  std::vector<int> lengths_;  // of the chains
};

}  // namespace tessera::plan::lowering

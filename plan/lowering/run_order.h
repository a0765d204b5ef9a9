#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/lowered_program.h"

namespace tessera::plan::lowering {

// Which of many events comes before which, told as they arrive in an order that agrees.
//
// Events are strung on chains, on each of which every one comes before the next. An event knows for
// each chain how far it has passed before it; so `Precedes` looks at one number. A new event goes
// on a chain that ends before it, or opens one:
//
//     chain 0   a ----> c ----> e          e knows: all of chain 0 up to c, of chain 1 up to b
//                \             /
//     chain 1     '--> b -----'            Mattern 1989, vector clocks; chains in place of processes
//
// Memory and time: events times chains. Programs that wait for buffers have as many chains as jobs
// that run at once.
class Precedence {
 public:
  // An event after those of `before` and whatever comes before them; they are numbers of events.
  // Gives its own, counted from 0.
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

// The region for one tile and round: `indices` counts trips of the loops from the first of the
// class, `round` from the first of the work. Numbers have as many steps as there are indices, or
// none; none is beyond 2^40.
FixedRegion Evaluate(const Region& region, const std::vector<int64_t>& indices, int64_t round);

// One run of a job.
struct Run {
  int job = 0;
  int64_t tile = -1;  // -1: before the tiles
  int64_t round = 0;
  std::vector<FixedRegion> regions;
  std::vector<int> before;  // runs that it waits for
};

// The runs of a lowered subgraph in the order in which they are stated, with what they wait for;
// nullopt where runs and waits are more than `most`. `faults` gets what contradicts itself, in
// words.
std::optional<std::vector<Run>> UnrollRuns(const Lowered& lowered, int64_t most,
                                           std::vector<std::string>& faults);

}  // namespace tessera::plan::lowering

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/lowered_program.h"

namespace tessera::plan::lowering {

// States which runs end before another begins. Runs are numbered from 0 in an order in which they
// may be executed one by one.
class RunOrder {
 public:
  virtual ~RunOrder() = default;
  virtual bool Precedes(int earlier, int later) const = 0;
};

// The partial order of events, built as the events arrive in a compatible order.
//
// Events are assigned to chains. On a chain every event comes before the next. An event stores for
// each chain how many of its events come before it, so `Precedes` reads one number. A new event is
// appended to a chain whose last event comes before it, or opens a new chain:
//
//     chain 0   a ----> c ----> e          e stores: all of chain 0 up to c, of chain 1 up to b
//                \             /
//     chain 1     '--> b -----'            Mattern 1989, vector clocks; chains instead of processes
//
// Memory and time: events times chains. A program that waits for buffers has as many chains as jobs
// that run concurrently.
class EventOrder : public RunOrder {
 public:
  // Adds an event after those of `before` (numbers of events) and all their predecessors. Returns
  // its own number, counted from 0.
  int Add(const std::vector<int>& before);

  bool Precedes(int earlier, int later) const override;

  // The events of the list that precede no other event of the list, ascending.
  std::vector<int> LatestOf(std::vector<int> events) const;

 private:
  struct Event {
    size_t chain = 0;
    int rank = 0;  // on its chain
    // by chain: how many of its events come before; 0 for chains beyond the end
    std::vector<int> passed;
  };

  std::vector<Event> events_;
  std::vector<int> lengths_;  // of the chains
};

// The order of runs with a begin and an end in time, which follow from the steps of a plan. A run
// precedes another if it ends before the other begins.
class TimeOrder : public RunOrder {
 public:
  // Begins a run and returns its number. `time` is not before the beginning of any other run.
  int Begin(int64_t time) {
    spans_.push_back({time});
    return static_cast<int>(spans_.size()) - 1;
  }
  void End(int run, int64_t time) { spans_[static_cast<size_t>(run)].end = time; }

  // Ends all runs. The next one is run 0.
  void Clear() { spans_.clear(); }

  bool Precedes(int earlier, int later) const override {
    return spans_[static_cast<size_t>(earlier)].end < spans_[static_cast<size_t>(later)].begin;
  }

 private:
  struct Span {
    int64_t begin = 0;
    int64_t end = std::numeric_limits<int64_t>::max();  // under way
  };
  std::vector<Span> spans_;
};

// Returns the region for one tile and round. `indices` counts trips of the loops from the first
// trip of the class, and `round` counts from the first round of the work. Each number has one step
// per index, or no steps, and is at most 2^40.
FixedRegion Evaluate(const Region& region, const std::vector<int64_t>& indices, int64_t round);

// One run of a job.
struct Run {
  int job = 0;
  int64_t tile = -1;  // -1: before the tiles
  int64_t round = 0;
  std::vector<FixedRegion> regions;
  std::vector<int> before;  // runs that it waits for
};

// The runs of a lowered subgraph in the order in which they are stated, with their waits. nullopt
// if there are more than `most` runs and waits. Contradictions are added to `faults`, in words.
std::optional<std::vector<Run>> UnrollRuns(const Lowered& lowered, int64_t most,
                                           std::vector<std::string>& faults);

}  // namespace tessera::plan::lowering

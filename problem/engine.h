// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem {

// A query for an allocation whose peak is as low as an engine can make it.
struct PeakQuery {
  size_t candidate = 0;
  Bytes target = 0;                   // of memories[0]: a peak that is low enough ends the search
  Bytes capacity = 0;                 // of memories[0]: a higher peak is no answer
  const Allocation* known = nullptr;  // of another session, valid; the search may start from it
  size_t strand = 0;                  // of this session, below Engine::Strands()
};

// An open session with an engine about one Problem. An engine that learns keeps its learned facts
// between calls. Not safe to use from two threads at the same time.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // Decides whether the buffers fit when memories[0] has `capacity` bytes. Sizes are those of tile
  // candidate `candidate`, which is ignored if the session was opened without a ladder. Other
  // memories keep their own capacities.
  //
  // Returns kFeasible with an allocation, kInfeasible, kUnknown if the budget or the stop ended the
  // work, kUnsupported if the Problem contains a constraint that the engine does not support (the
  // reason names it), or kInvalid. Never throws.
  virtual Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
                       const base::Stop& stop) = 0;

  // Decides the same, and returns an allocation whose costs (problem/problem.h) are as low as the
  // engine can make them. A kFeasible result has Result::cost and Result::least_cost, which are
  // equal if no allocation is cheaper. An engine that does not minimise costs returns kUnsupported,
  // as this default does. Without budget and stop, an engine that does not refute may search
  // forever for a first placement; the same holds for Solve.
  virtual Result Minimise(size_t candidate, Bytes capacity, const base::Budget& budget,
                          const base::Stop& stop);

  // Lowers the peak until it meets the target or the work ends, and returns the best allocation
  // found so far as kFeasible, or kUnknown if it found none. A later call continues. An engine
  // without Strands() returns kUnsupported, as this default does.
  virtual Result LowerPeak(const PeakQuery& query, const base::Budget& budget,
                           const base::Stop& stop);

  // Returns one line about the formulation for the user, such as the size of a formula; empty if
  // there is nothing to report.
  virtual std::string Describe() const { return {}; }
};

// A method to solve Problems. Stateless; safe to share between threads.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual std::string_view Name() const = 0;

  // Whether the engine also searches for proofs of infeasibility. An engine without such a search
  // may never terminate alone; it helps other engines to find placements.
  virtual bool Refutes() const { return true; }

  // Returns how many sessions should work on LowerPeak in parallel, each as a different strand; 0
  // if the engine does not lower peaks. An engine that lowers peaks is made for Problems that are
  // too large for other engines.
  virtual size_t Strands() const { return 0; }

  // Opens a session. `problem` and `ladder` (may be null) must outlive it. The Problem is well
  // formed (problem/well_formed.h).
  virtual std::unique_ptr<Session> Open(const Problem& problem, const Ladder* ladder) const = 0;
};

}  // namespace tessera::problem

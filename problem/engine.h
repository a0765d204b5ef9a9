#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem {

// An open conversation with an engine about one Problem. An engine that learns keeps what it
// learned between calls. Not safe to use from two threads at once.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // Decides whether the buffers, with the sizes of candidate `candidate` (ignored when the session
  // was opened without a ladder), fit when memories[0] has `capacity` bytes. Other memories keep
  // their own capacities.
  //
  // Answers kFeasible with an allocation, kInfeasible, kUnknown when budget or stop ended the work,
  // kUnsupported when the Problem states something that the engine cannot honour (the reason names
  // it), or kInvalid. Never throws.
  virtual Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
                       const base::Stop& stop) = 0;

  // The same question, and among its answers one whose costs (problem/problem.h) are as low as the
  // engine finds: kFeasible with Result::cost and Result::least_cost, which are equal when no
  // answer is cheaper. An engine that minimises no costs answers kUnsupported, whatever the costs
  // are: so does this default.
  virtual Result Minimise(size_t candidate, Bytes capacity, const base::Budget& budget,
                          const base::Stop& stop);

  // What a person who watches may want to know of how the question was put, in one line: the size
  // of a formula. Empty where there is nothing to tell.
  virtual std::string Describe() const { return {}; }
};

// A way of solving Problems. Stateless; safe to share between threads.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual std::string_view Name() const = 0;

  // Whether it searches for proofs that nothing fits as well. One that does not may never come to
  // an end alone: it helps others to find.
  virtual bool Refutes() const { return true; }

  // Opens a session. `problem` and `ladder` (may be null) outlive it. The Problem is well formed
  // (problem/well_formed.h).
  virtual std::unique_ptr<Session> Open(const Problem& problem, const Ladder* ladder) const = 0;
};

}  // namespace tessera::problem

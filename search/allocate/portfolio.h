#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search::allocate {

struct AllocateOptions {
  std::optional<problem::Bytes> capacity;  // of memories[0]; nullopt: what the Problem says
  bool minimize = false;                   // look for the least peak instead of any that fits
  base::Budget budget;  // over all engines and probes, in each engine's own units
  int threads = 1;      // two are of use; they change the time taken, never the answer
  const base::Stop* stop = nullptr;
  std::function<void(std::string_view)>
      progress;  // told of each engine's turns, a line each; may be empty
};

// Decides the Problem with the sizes of `candidate` (ignored without a ladder). Engines stand in
// the order of their promise: the first two, which should be quick and count nodes, open and share
// a lane; the third has the other lane, and the second's help there when minimising; those after
// are asked where the others refuse, or where a small Problem turns out hard. Engines that refute
// nothing (problem/engine.h) are out of that order: they help both lanes to come down, and to
// decide what resists for long. Lanes take turns in rounds of growing slices until one is
// conclusive. An engine that cannot honour a constraint is passed by. Without options.capacity, or
// with options.minimize, the lanes then close the gap between the proven bound and the best
// allocation found. The same input and budget give the same result, whatever the threads.
//
// The result is
// - kOptimal when the peak is proven least: by a bound, or because every lower peak is proven
//   infeasible;
// - kFeasible with an allocation otherwise, when minimising with the reason why not more is known;
// - kInfeasible only with a proof: a bound, whose reason names step and buffers, or an engine's;
// - kUnknown when a limit came first, kUnsupported when no engine can honour the Problem, kInvalid
//   when it is
//   malformed.
// `lower_bound` always holds; statistics are sums over all engines whose work counted.
//
// Every allocation is checked by problem::Validate before it is returned. An engine whose answer
// fails the check is a fault of the program, not of the input: then there is no result, and the
// diagnostic says which engine broke what. Memory that runs out, or a memory limit of the stop,
// ends the search as a deadline does: the best allocation so far is the answer, or kUnknown.
base::Expected<problem::Result> Allocate(const problem::Problem& problem,
                                         const problem::Ladder* ladder, size_t candidate,
                                         std::span<const problem::Engine* const> engines,
                                         const AllocateOptions& options);

}  // namespace tessera::search::allocate

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search {

struct AllocateOptions {
  std::optional<problem::Bytes> capacity;  // of memories[0]; nullopt: what the Problem says
  bool minimize = false;                   // look for the least peak instead of any that fits
  base::Budget budget;                     // over all engines and probes, in each engine's own units
  const base::Stop* stop = nullptr;
  std::function<void(std::string_view)> progress;  // told of each improvement, in one line; may be empty
};

// Decides the Problem with the sizes of `rung` (ignored without a ladder) by asking the engines in the given
// order until one is conclusive; an engine that cannot honour a constraint is passed by. Without
// options.capacity, or with options.minimize, it then lowers the peak by bisection between the proven bound
// and the best allocation found.
//
// The result is
// - kOptimal when the peak is proven least: by a bound, or because every lower peak is proven infeasible;
// - kFeasible with an allocation otherwise, when minimising with the reason why not more is known;
// - kInfeasible only with a proof: a bound, whose reason names step and buffers, or an engine's;
// - kUnknown when a limit came first, kUnsupported when no engine can honour the Problem, kInvalid when it is
// malformed. `lower_bound` always holds; statistics are sums over all engines.
//
// Every allocation is checked by problem::Validate before it is returned. An engine whose answer fails the
// check is a fault of the program, not of the input: then there is no result, and the diagnostic says which
// engine broke what.
base::Expected<problem::Result> Allocate(const problem::Problem& problem, const problem::Ladder* ladder,
                                         size_t rung, std::span<const problem::Engine* const> engines,
                                         const AllocateOptions& options);

}  // namespace tessera::search

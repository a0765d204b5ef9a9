// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search::allocate {

struct AllocateOptions {
  std::optional<problem::Bytes> capacity;  // of memories[0]; nullopt: the capacity in the Problem
  // Search for the least peak instead of any allocation that fits.
  bool minimize = false;
  // A peak that exceeds the bound by at most this many millionths of the bound is low enough.
  int64_t gap_ppm = 0;
  base::Budget budget;         // over all engines and probes, in each engine's own units
  base::Threads threads = {};  // up to two are useful; they change the time, never the answer
  const base::Stop* stop = nullptr;
  // Receives one line for each turn of an engine; may be empty.
  base::ProgressFunction progress;
};

// Decides the Problem with the sizes of `candidate` (ignored without a ladder).
//
// `engines` must be ordered by expected performance. The first two, which should be fast and count
// nodes, share a lane. The third has the other lane; when minimising, the second helps there. Later
// engines are used if the earlier ones refuse, or if a small Problem turns out to be hard. Engines
// that refute nothing (problem/engine.h) are outside this order: they help both lanes to lower the
// peak and to decide Problems that stay open for long. Lanes take turns in rounds of growing slices
// until one is conclusive. An engine that does not support a constraint is skipped. Without
// options.capacity, or with options.minimize, the lanes then close the gap between the proven bound
// and the best allocation found. The same input and budget yield the same result on any number of
// threads.
//
// The result is
// - kOptimal when the peak is proven least: by a bound, or because every lower peak is proven
//   infeasible;
// - kFeasible with an allocation otherwise; when minimising, with the reason why no more is known;
// - kInfeasible only with a proof: a bound, whose reason names step and buffers, or that of an
//   engine;
// - kUnknown when a limit came first, kUnsupported when no engine supports the Problem, kInvalid
//   when it is malformed.
// `lower_bound` always holds. Statistics are sums over all engines whose work counted.
//
// Every allocation is checked by problem::Validate before it is returned. If an answer fails the
// check, that is an error of the program, not of the input: the function returns a diagnostic that
// names the engine and the violation. If memory runs out, or a memory limit of the stop is reached,
// the search ends as at a deadline: the best allocation so far is the answer, or kUnknown.
base::Expected<problem::Result> Allocate(const problem::Problem& problem,
                                         const problem::Ladder* ladder, size_t candidate,
                                         std::span<const problem::Engine* const> engines,
                                         const AllocateOptions& options);

}  // namespace tessera::search::allocate

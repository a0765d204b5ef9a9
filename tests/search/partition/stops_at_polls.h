// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "search_options.h"
#include "tessera/base/stop.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/tests/draws.h"

// Runs a search once for each of several polls of its stop, which ends it there.
namespace tessera::search {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Runs of one search, spread evenly over its polls.
inline int64_t Runs() { return IsLongRun() ? 32 : 12; }

// A search that polls less than this many times would be no subject.
inline constexpr int kLeastRuns = 10;

// Polls between the request and the end: each task that no longer starts polls once, and each level
// of calls polls a few times.
inline constexpr int64_t kMostAfter = 400;

// Calls run(stop) with a stop that requests itself at the k-th poll, for k in steps up to the
// `polls` of a whole run. Returns the number of runs.
template <typename Run>
int ForEachPoll(int64_t polls, const Run& run, int64_t most_after = kMostAfter) {
  int runs = 0;
  for (int64_t k = 1; k <= polls; k += std::max<int64_t>(1, polls / Runs())) {
    SCOPED_TRACE("stopped at poll " + std::to_string(k) + " of " + std::to_string(polls));
    const base::Stop stop(base::Stop::AtPoll{k});
    run(stop);
    EXPECT_GE(stop.Polls(), k);
    EXPECT_LE(stop.Polls() - k, most_after);
    ++runs;
  }
  return runs;
}

inline void ExpectRight(const plan::Plan& plan) {
  for (const plan::verify::Violation& violation : plan::verify::Validate(plan))
    ADD_FAILURE() << violation.message;
}

inline partition::answer::PartitionOptions KeepingWherePossible(plan::Objective objective = {}) {
  partition::answer::PartitionOptions options = KeepingNothing(std::move(objective));
  options.keeping = partition::paths::Keeping::kWherePossible;
  return options;
}

}  // namespace tessera::search

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The search over all pairs of a network and a point of the space.
namespace tessera::explore {

// A finished exploration.
struct Exploration {
  std::vector<Point> points;
  std::vector<double> areas;  // of the points, if the specification asks for them
  std::vector<Pair> pairs;    // by network, then by point
  std::vector<Front> network_fronts;
  Front set_front;

  const Pair& PairAt(size_t network, size_t point) const {
    return pairs[network * points.size() + point];
  }
};

// Chooses the pairs to plan next.
class Chooser {
 public:
  Chooser() = default;
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  virtual ~Chooser() = default;

  // Returns at most `most` open pairs, as indices. If it returns none, the exploration ends.
  virtual std::vector<size_t> Choose(const Exploration& so_far, size_t most) = 0;
};

struct RunOptions {
  base::Threads threads = {};
  Canceller canceller = {};
  std::optional<int64_t> memory_limit = {};  // bytes that the process holds
  bool plan_all = false;                     // skip nothing
  // Chooses the pairs to plan next; the exploration ends when this share of the pairs is planned,
  // rounded down, but at least one. Not set: pairs with the least bounds come first, and all are
  // settled.
  Chooser* chooser = nullptr;
  double most_share = 1;
  const Attempts* attempts = nullptr;  // PlannerOptions::attempts
  base::ProgressFunction progress = {};
};

// Returns nullopt if it was cancelled; everything found until then is in the store.
base::Expected<std::optional<Exploration>> Explore(const Spec& spec, const Store& store,
                                                   const RunOptions& options);

}  // namespace tessera::explore

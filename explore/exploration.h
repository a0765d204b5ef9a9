// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The search over all pairs of a network and a point of the space.
namespace tessera::explore {

// How it became known that a pair adds nothing to a front, or what it adds.
enum class Settled : uint8_t {
  kOpen,      // not looked at
  kPlanned,   // its plans were made
  kBound,     // its lower bounds are dominated, or exceed a limit
  kMonotone,  // the same with bounds from a pair that is at least as good, or that is infeasible
  kRefused    // the point is no profile
};

std::string_view NameOf(Settled settled);

struct Pair {
  PairOf of;
  Settled settled = Settled::kOpen;
  bool is_infeasible = false;               // proven, where it is not planned
  Planner::Figures bounds = {};             // of metrics
  std::map<std::string, size_t> from = {};  // metrics whose bound came from another pair
  Values least = {};                        // lower bounds of the objectives
  std::vector<Answer> answers = {};         // one for each minimised metric, if it is planned
  std::vector<Values> values = {};  // of the objectives, for each answer; empty without a plan
  std::string reason = {};          // in a sentence

  bool IsOpen() const { return settled == Settled::kOpen; }
};

// The sum of the logarithms of the least values: low for pairs near the origin, in any units. Pairs
// with the least priority come first.
double PriorityOf(const Pair& pair);

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

// Chooses what is planned next.
class Chooser {
 public:
  Chooser() = default;
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  virtual ~Chooser() = default;

  // Open pairs, as indices, `most` at most. None ends the exploration.
  virtual std::vector<size_t> Choose(const Exploration& so_far, size_t most) = 0;
};

struct RunOptions {
  int threads = 1;
  Canceller canceller = {};
  std::optional<int64_t> memory_limit = {};  // bytes that the process holds
  bool plan_all = false;                     // skip nothing
  // Chooses what is planned next, and ends when this share of the pairs is planned, rounded down,
  // but at least one. Not set: pairs with the least bounds come first, and all are settled.
  Chooser* chooser = nullptr;
  double most_share = 1;
  const Attempts* attempts = nullptr;  // PlannerOptions::attempts
  std::function<void(std::string_view line)> progress = {};
};

// nullopt if it was cancelled; what was found out until then is in the store.
base::Expected<std::optional<Exploration>> Explore(const Spec& spec, const Store& store,
                                                   const RunOptions& options);

}  // namespace tessera::explore

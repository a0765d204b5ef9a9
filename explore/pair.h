// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/explore/pareto.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/store.h"

// A pair of a network and a point of the space, and the known facts about it.
namespace tessera::explore {

// How a pair was settled, that is how it is known what it adds to a front, if anything.
enum class Settled : uint8_t {
  kOpen,      // not looked at
  kPlanned,   // its plans were made
  kBound,     // its lower bounds are dominated, or exceed a limit
  kMonotone,  // the same with bounds from a pair that is at least as good, or that is infeasible
  kRefused    // the point is not a profile
};

std::string_view NameOf(Settled settled);

struct Pair {
  PairOf of;
  Settled settled = Settled::kOpen;
  bool is_infeasible = false;               // proven without planning it
  Planner::Figures bounds = {};             // of metrics
  std::map<std::string, size_t> from = {};  // metrics whose bound came from another pair
  Values least = {};                        // lower bounds of the objectives
  std::vector<Answer> answers = {};         // one for each minimised metric, if it is planned
  std::vector<Values> values = {};  // of the objectives, for each answer; empty without a plan
  std::string reason = {};          // in a sentence

  bool IsOpen() const { return settled == Settled::kOpen; }
};

// Returns the sum of the logarithms of the least values: low for pairs near the origin, in any
// units. Pairs with the least priority come first.
double PriorityOf(const Pair& pair);

// Returns the least value of each objective over the plans of the pair; empty without a plan.
Values BestOf(const Pair& pair);

// Returns whether it is proven that the network has no plan on this point.
bool HasNoPlan(const Pair& pair);

// Returns whether the pair was planned, but it is unknown whether it has a plan.
bool IsUndecided(const Pair& pair);

}  // namespace tessera::explore

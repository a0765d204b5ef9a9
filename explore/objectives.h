// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The objectives of a specification, as numbers, and the values of pairs.
namespace tessera::explore {

// The objectives of a specification, as numbers.

// Returns a metric rounded to nine significant digits, for comparison. Sums of energies that differ
// only by rounding are then equal, and so are the values derived from them.
double Rounded(double value);

// Returns the areas of the points in mm2; empty if no objective needs them. Refuses parts without
// an area.
base::Expected<std::vector<double>> FindAreas(const Spec& spec, const std::vector<Point>& points);

// The values of the names in objectives at each point, and the values of the objectives.
class Objectives {
 public:
  // All arguments must outlive this object. `areas` are those of the points, or empty.
  Objectives(const Spec& spec, const std::vector<Point>& points, const std::vector<double>& areas);

  // Returns lower bounds of the objectives if metrics have at least these values.
  base::Expected<Values> AtLeast(const PairOf& pair, const Planner::Figures& metrics) const;

  // Returns the values of the objectives if metrics have these values.
  base::Expected<Values> Of(const PairOf& pair, const Planner::Figures& metrics) const;

  // Returns the range of objective `index` if metrics and the area lie in these intervals.
  base::Expected<NumberInterval> Within(const PairOf& pair, size_t index,
                                        const std::map<std::string, NumberInterval>& metrics) const;

 private:
  base::Expected<Values> LowEnds(const PairOf& pair,
                                 const std::map<std::string, NumberInterval>& metrics) const;

  const Spec& spec_;
  std::vector<std::map<std::string, double>> constants_;  // of the points
};

// A pair of a network and a point of the space, and the known facts about it.

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

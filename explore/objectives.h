// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/interval.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"

// The objectives of a specification, as numbers.
namespace tessera::explore {

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
  base::Expected<Interval> Within(const PairOf& pair, size_t index,
                                  const std::map<std::string, Interval>& metrics) const;

 private:
  base::Expected<Values> LowEnds(const PairOf& pair,
                                 const std::map<std::string, Interval>& metrics) const;

  const Spec& spec_;
  std::vector<std::map<std::string, double>> constants_;  // of the points
};

}  // namespace tessera::explore

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

// Metrics are compared with nine significant digits. Sums of energies that differ by no more than
// rounding are equal then, and so is what follows from them.
double Rounded(double value);

// The areas of the points in mm2; empty if no objective needs them. Refuses parts without a figure.
base::Expected<std::vector<double>> FindAreas(const Spec& spec, const std::vector<Point>& points);

// The values of the names in objectives at each point, and the values that follow.
class Objectives {
 public:
  // Everything must outlive it. `areas`: of the points, or empty.
  Objectives(const Spec& spec, const std::vector<Point>& points, const std::vector<double>& areas);

  // Lower bounds of the objectives, where metrics have at least these values.
  base::Expected<Values> AtLeast(const PairOf& pair, const Planner::Figures& metrics) const;

  // Their values, where metrics have these values.
  base::Expected<Values> Of(const PairOf& pair, const Planner::Figures& metrics) const;

  // The range of objective `index` where metrics and the area lie in these intervals.
  base::Expected<Interval> Within(const PairOf& pair, size_t index,
                                  const std::map<std::string, Interval>& metrics) const;

 private:
  base::Expected<Values> LowEnds(const PairOf& pair,
                                 const std::map<std::string, Interval>& metrics) const;

  const Spec& spec_;
  std::vector<std::map<std::string, double>> constants_;  // of the points
};

}  // namespace tessera::explore

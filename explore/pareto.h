// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Points in the space of objectives, all of which are minimised; their fronts and volumes.
namespace tessera::explore {

using Values = std::vector<double>;

// Returns whether no value of `a` is above that of `b`, and some value is below.
bool Dominates(std::span<const double> a, std::span<const double> b);

// A point of a front: the values of one answer, or of a set of networks.
struct FrontPoint {
  size_t point = 0;    // of the space
  std::string metric;  // that its plans minimise
  Values values;
};

// The points that no other point dominates. Equal points stay together.
class Front {
 public:
  void Add(FrontPoint point);

  // Returns a point that dominates these values; nullptr if there is none.
  const FrontPoint* FindDominator(std::span<const double> values) const;

  // Returns the points by values, then by point and metric.
  std::vector<FrontPoint> Sorted() const;

  size_t Size() const { return points_.size(); }

 private:
  std::vector<FrontPoint> points_;
};

// The volume that points dominate, which measures how good a front is.

// Returns the volume of the region that the points dominate below `reference`; points that are not
// below it in every coordinate are ignored. All coordinates are minimised. The algorithm cuts
// slices along the last axis (While, Hingston, Barone and Huband, "A faster algorithm for
// calculating hypervolume", 2006). Cost: n^(d-1) for n points of d coordinates.
double Hypervolume(std::vector<Values> points, const Values& reference);

// Returns the points without those that another point equals or undercuts in every coordinate; of
// equal points, the first stays.
std::vector<Values> WithoutDominated(const std::vector<Values>& points);

}  // namespace tessera::explore

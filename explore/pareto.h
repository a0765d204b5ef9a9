// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Points in the space of objectives, all of which are minimised.
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

}  // namespace tessera::explore

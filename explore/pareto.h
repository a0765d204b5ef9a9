// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Points in the space of objectives, all of which are minimised.
namespace tessera::explore {

using Values = std::vector<double>;

// Whether no value of `a` is above that of `b`, and one is below.
bool Dominates(std::span<const double> a, std::span<const double> b);

// A point of a front: what one answer costs, or that of a set of networks.
struct FrontPoint {
  size_t point = 0;    // of the space
  std::string metric;  // that its plans minimise
  Values values;
};

// Points that none dominates. Equal points stay together.
class Front {
 public:
  void Add(FrontPoint point);

  // A point that dominates these values; nullptr if there is none.
  const FrontPoint* FindDominator(std::span<const double> values) const;

  // By values, then by point and metric.
  std::vector<FrontPoint> Sorted() const;

  size_t Size() const { return points_.size(); }

 private:
  std::vector<FrontPoint> points_;
};

}  // namespace tessera::explore

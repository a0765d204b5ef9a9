// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/pareto.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tessera::explore {

bool Dominates(std::span<const double> a, std::span<const double> b) {
  bool is_below = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] <= b[i])) return false;  // also if one is NaN
    is_below = is_below || a[i] < b[i];
  }
  return is_below;
}

void Front::Add(FrontPoint point) {
  if (FindDominator(point.values) != nullptr) return;
  std::erase_if(points_,
                [&](const FrontPoint& each) { return Dominates(point.values, each.values); });
  points_.push_back(std::move(point));
}

const FrontPoint* Front::FindDominator(std::span<const double> values) const {
  const auto found = std::find_if(points_.begin(), points_.end(), [&](const FrontPoint& each) {
    return Dominates(each.values, values);
  });
  return found == points_.end() ? nullptr : &*found;
}

std::vector<FrontPoint> Front::Sorted() const {
  std::vector<FrontPoint> sorted = points_;
  std::sort(sorted.begin(), sorted.end(), [](const FrontPoint& a, const FrontPoint& b) {
    return std::tie(a.values, a.point, a.metric) < std::tie(b.values, b.point, b.metric);
  });
  return sorted;
}

}  // namespace tessera::explore

// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/pareto.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace tessera::explore {
namespace {

// Only the first `axes` coordinates of the points count.
double VolumeOf(std::vector<Values> points, const Values& reference, size_t axes) {
  if (points.empty()) return 0;
  const size_t last = axes - 1;
  std::sort(points.begin(), points.end(),
            [&](const Values& a, const Values& b) { return a[last] < b[last]; });
  if (axes == 1) return std::max(0.0, reference[0] - points.front()[0]);
  double volume = 0;
  std::vector<Values> below;
  for (size_t i = 0; i < points.size(); ++i) {
    const double end =
        std::min(reference[last], i + 1 < points.size() ? points[i + 1][last] : reference[last]);
    // Points that no lower slice dominates matter in all higher ones.
    const bool is_new = std::none_of(below.begin(), below.end(), [&](const Values& each) {
      return std::equal(each.begin(), each.begin() + static_cast<ptrdiff_t>(last),
                        points[i].begin(), [](double a, double b) { return a <= b; });
    });
    if (is_new) below.push_back(points[i]);
    if (end > points[i][last]) volume += (end - points[i][last]) * VolumeOf(below, reference, last);
  }
  return volume;
}

}  // namespace

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

std::vector<Values> WithoutDominated(const std::vector<Values>& points) {
  std::vector<Values> kept;
  for (const Values& point : points) {
    const auto covers = [](const Values& a, const Values& b) {
      return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x <= y; });
    };
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const Values& each) { return covers(each, point); }))
      continue;
    std::erase_if(kept, [&](const Values& each) { return covers(point, each); });
    kept.push_back(point);
  }
  return kept;
}

double Hypervolume(std::vector<Values> points, const Values& reference) {
  if (reference.empty()) return 0;
  std::erase_if(points, [&](const Values& point) {
    for (size_t i = 0; i < reference.size(); ++i) {
      if (!(point[i] < reference[i])) return true;
    }
    return false;
  });
  return VolumeOf(WithoutDominated(points), reference, reference.size());
}

}  // namespace tessera::explore

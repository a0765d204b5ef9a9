// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/least_tiles.h"

#include <algorithm>

#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/tiles.h"

namespace tessera::plan::verify::infeasibility {

using hw_profiles::HaloStorage;

LeastTiles::LeastTiles(const Plan& plan, const std::vector<Users>& users, graph::Interval interval)
    : plan_(plan) {
  const int tiled = plan.network.operators[static_cast<size_t>(interval.last)].outputs.front();
  const graph::Shape& shape = graph::ShapeOf(plan.network, tiled);
  output_ = WholeOf(shape);
  units_.assign(shape.size(), 0);
  if (IsOnHost(plan, interval)) return;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (const hw_profiles::AxisGranularity& offered : plan.profile.tiling.axes) {
      const bool cuts =
          MeaningOf(shape.size(), axis) == offered.axis && offered.granularity < shape[axis];
      if (!cuts || !MayCut(plan.network, users, interval, axis)) continue;
      const int64_t known = units_[axis];
      units_[axis] = known == 0 ? offered.granularity : std::min(known, offered.granularity);
    }
  }
}

bool LeastTiles::AreSeveral() const {
  return std::any_of(units_.begin(), units_.end(), [](int64_t unit) { return unit > 0; });
}

bool LeastTiles::MayKeepRows() const {
  const auto rows = RowAxisOf(output_.size());
  const std::vector<HaloStorage>& halo = plan_.profile.tiling.halo;
  return rows && Cuts(*rows) && std::any_of(halo.begin(), halo.end(), [](HaloStorage each) {
           return each != HaloStorage::kRecompute;
         });
}

// The unit that contains an index, or all of the axis if it is not cut.
Range LeastTiles::UnitAround(size_t axis, int64_t index) const {
  const int64_t extent = output_[axis].end;
  const int64_t unit = units_[axis];
  if (unit == 0) return {0, extent};
  const int64_t begin = index / unit * unit;
  return {begin, std::min(begin + unit, extent)};
}

Box LeastTiles::Around(bool from_top) const {
  Box tile = output_;
  for (size_t axis = 0; axis < output_.size(); ++axis) {
    const bool is_rows = MeaningOf(output_.size(), axis) == base::Axis::kRows;
    tile[axis] = UnitAround(axis, from_top && is_rows ? 0 : output_[axis].end / 2);
  }
  return tile;
}

Box LeastTiles::TopOfStrip() const {
  Box tile = AroundTop();
  for (size_t axis = 0; axis < output_.size(); ++axis) {
    const auto name = MeaningOf(output_.size(), axis);
    const bool divides = name == base::Axis::kRows || name == base::Axis::kBatch ||
                         (name == base::Axis::kColumns && plan_.profile.tiling.implicit_padding);
    if (!divides) tile[axis] = output_[axis];
  }
  return tile;
}

}  // namespace tessera::plan::verify::infeasibility

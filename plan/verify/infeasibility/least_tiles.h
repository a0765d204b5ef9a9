// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

// The least tiles of a subgraph that contain an element of the output of its last operator. Along
// an axis with a granularity tiles consist of its units:
//
//     axis    |........|...x....|........|...     the tile of x holds this unit at least
namespace tessera::plan::verify::infeasibility {

class LeastTiles {
 public:
  // The plan must outlive it. Cost: MayCut for each axis.
  LeastTiles(const Plan& plan, const std::vector<Users>& users, graph::Interval interval);

  // AreSeveral: whether some axis may be cut. Cuts: whether this axis may be cut.
  bool AreSeveral() const;
  bool Cuts(size_t axis) const { return units_[axis] > 0; }

  // Whether tiles may keep rows for the next ones.
  bool MayKeepRows() const;

  // The tile around the middle of the output.
  Box AroundMiddle() const { return Around(false); }

  // The tile around the middle of the first row.
  Box AroundTop() const { return Around(true); }

  // The first tile of a strip. Only rows, the batch and, if padding is implicit, columns are cut.
  Box TopOfStrip() const;

 private:
  Range UnitAround(size_t axis, int64_t index) const;
  Box Around(bool from_top) const;

  const Plan& plan_;
  Box output_;
  std::vector<int64_t> units_;  // by axis of the output: the unit of its cuts; 0 if it is not cut
};

}  // namespace tessera::plan::verify::infeasibility

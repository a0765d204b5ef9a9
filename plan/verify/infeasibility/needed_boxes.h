// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// Boxes of tensors that every plan makes and reads, under every order, cut, tile and policy.
namespace tessera::plan::verify::infeasibility {

using Boxes = std::vector<std::optional<Box>>;

// By tensor, a box that every plan makes or reads in full, because all of it reaches an output of
// the network; nullopt: none is known.
Boxes FindNeeded(const graph::Graph& network, const std::vector<Users>& users);

// The box of the operand that is read without gaps for that box of the result; nullopt if gaps are
// possible, if nothing is read, or if an axis is too long to visit.
std::optional<Box> ReadWithoutGaps(const graph::Graph& network, const graph::Operator& op,
                                   size_t operand, const Box& made);

// The hull of two boxes if it contains no other elements than theirs; otherwise the larger box.
Box Joined(const Box& a, const Box& b);

// The least tiles of a subgraph that contain an element of the output of its last operator. Along
// an axis with a granularity tiles consist of its units:
//
//     axis    |........|...x....|........|...     the tile of x holds this unit at least

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

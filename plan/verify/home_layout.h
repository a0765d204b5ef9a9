// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::verify {

// The layout of a tensor at home. From the innermost axis outwards: channels, in blocks; columns,
// padded to the pitch of a row; rows; all other axes.
class HomeLayout {
 public:
  HomeLayout(const Plan& plan, int tensor);

  // The bytes of a part, counted from the tensor's first byte, as ascending runs that do not touch.
  // A part of more than 1 024 runs is enlarged to whole rows, or further.
  std::vector<problem::AddressRange> BytesOf(const Box& part) const;

 private:
  Box Widened(Box part) const;
  std::vector<size_t> OuterAxes(const Box& part) const;

  graph::Shape shape_;
  std::vector<int64_t> strides_;  // bits from one index to the next, by axis
  int64_t element_ = 0;           // bits
};

}  // namespace tessera::plan::verify

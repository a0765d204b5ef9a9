// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::verify {

// How the elements of a tensor lie at home: channels innermost, in blocks, then columns, padded to
// the pitch of a row, then rows, then all other axes.
class HomeLayout {
 public:
  HomeLayout(const Plan& plan, int tensor);

  // The bytes of a part, from the tensor's first byte: ascending runs that do not touch. A part of
  // more than 1 024 runs counts as one of whole rows, or more.
  std::vector<problem::AddressRange> BytesOf(const Box& part) const;

 private:
  Box Widened(Box part) const;
  std::vector<size_t> OuterAxes(const Box& part) const;

  graph::Shape shape_;
  std::vector<int64_t> strides_;  // bits from one index to the next, by axis
  int64_t element_ = 0;           // bits
};

}  // namespace tessera::plan::verify

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/validator.h"

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

// Bytes of a tensor at home, and the slots in which they are needed (docs/program.md, "Homes by
// tiles").
struct HomeBytes {
  int tensor = 0;
  problem::AddressRange bytes;  // from the tensor's first byte
  problem::Lifespan slots;
};

struct BytesAtHome {
  std::vector<HomeBytes> list;               // by tensor; ranges of one ascend and do not overlap
  std::vector<problem::Lifespan> subgraphs;  // the slots of each
};

// Finds the bytes of every tensor at home outside the tile memory. It runs the program transfer by
// transfer. The partition has passed CheckPartition. Returns nullopt if there are more than
// kMostHomeRanges ranges. Cost: that of an execution without elements, and the runs of consecutive
// bytes of every transfer.
inline constexpr size_t kMostHomeRanges = size_t{1} << 22;
std::optional<BytesAtHome> FindHomeBytes(const Plan& plan, const Derivation& derivation);

// Checks homes whose tensors share addresses tile by tile. No two tensors may need the same byte in
// one slot, and the stated lower bound must be at least the bytes that are needed at once.
void CheckHomesByTiles(const Plan& plan, const Derivation& derivation, Findings& findings);

}  // namespace tessera::plan::verify

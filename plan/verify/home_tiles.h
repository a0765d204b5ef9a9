// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/validator.h"

namespace tessera::plan::verify {

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

// The bytes of every tensor at home outside the tile memory, by running the program transfer by
// transfer. The partition has passed CheckPartition. nullopt if there are more than
// kMostHomeRanges. Cost: that of an execution without elements, and the runs of consecutive bytes
// of every transfer.
inline constexpr size_t kMostHomeRanges = size_t{1} << 22;
std::optional<BytesAtHome> FindHomeBytes(const Plan& plan, const Derivation& derivation);

// Checks homes whose tensors share addresses tile by tile: that no byte is needed by two tensors in
// one slot, and that the stated lower bound is not below what is needed at once.
void CheckHomesByTiles(const Plan& plan, const Derivation& derivation, Findings& findings);

}  // namespace tessera::plan::verify

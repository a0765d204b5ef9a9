// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/tiles.h"

namespace tessera::plan::verify {

// How an engine cuts what it makes of a result into blocks: docs/program.md, "Output blocks". Boxes
// are [batch, channels, rows, columns].
struct BlockGrid {
  std::vector<int64_t> block;  // the largest one
  std::vector<int64_t> input;  // what it needs, at all channels
  int64_t areas = 1;           // blocks along batch, rows and columns
  int64_t layers = 1;          // blocks along the channels
};

// nullopt if the operator's engine does not work in blocks, or if nothing is made. `need`: of the
// operator's first input.
std::optional<BlockGrid> BlockGridOf(const Plan& plan, const graph::Operator& op,
                                     const std::vector<int64_t>& made,
                                     const std::vector<int64_t>& need);

std::optional<BlockGrid> BlockGridOf(const Plan& plan, const graph::Operator& op, const Tile& tile);

}  // namespace tessera::plan::verify

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/tiles.h"

namespace tessera::plan::verify {

// The blocks into which an engine cuts the part of a result that it makes: docs/program.md, "Output
// blocks". Boxes are [batch, channels, rows, columns].
struct BlockGrid {
  std::vector<int64_t> block;  // the largest one
  std::vector<int64_t> input;  // the input of one block, with all channels
  int64_t areas = 1;           // blocks along batch, rows and columns
  int64_t layers = 1;          // blocks along the channels
};

// Finds the grids of one plan's tiles, and stores them, because many tiles have equal extents. The
// plan must outlive it. Cost of a new grid: the number of block sizes.
class BlockGrids {
 public:
  explicit BlockGrids(const Plan& plan) : plan_(plan) {}

  // Returns nullopt if the operator's engine does not work in blocks, or if nothing is made. `op`
  // is an operator of the plan; `need` are the needed extents of its first input.
  std::optional<BlockGrid> Find(const graph::Operator& op, const std::vector<int64_t>& made,
                                const std::vector<int64_t>& need);
  std::optional<BlockGrid> Find(const graph::Operator& op, const Tile& tile);

 private:
  using Key = std::tuple<const graph::Operator*, std::vector<int64_t>, std::vector<int64_t>>;

  const Plan& plan_;
  std::map<Key, BlockGrid> known_;
};

}  // namespace tessera::plan::verify

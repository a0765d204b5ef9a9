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

// How an engine cuts what it makes of a result into blocks: docs/program.md, "Output blocks". Boxes
// are [batch, channels, rows, columns].
struct BlockGrid {
  std::vector<int64_t> block;  // the largest one
  std::vector<int64_t> input;  // what it needs, at all channels
  int64_t areas = 1;           // blocks along batch, rows and columns
  int64_t layers = 1;          // blocks along the channels
};

// Finds the grids of one plan's tiles, and remembers them: many tiles have equal extents. The plan
// must outlive it. Cost where one is not known: the number of block sizes.
class BlockGrids {
 public:
  explicit BlockGrids(const Plan& plan) : plan_(plan) {}

  // nullopt if the operator's engine does not work in blocks, or if nothing is made. `op` is an
  // operator of the plan; `need`: of its first input.
  std::optional<BlockGrid> Find(const graph::Operator& op, const std::vector<int64_t>& made,
                                const std::vector<int64_t>& need);
  std::optional<BlockGrid> Find(const graph::Operator& op, const Tile& tile);

 private:
  using Key = std::tuple<const graph::Operator*, std::vector<int64_t>, std::vector<int64_t>>;

  const Plan& plan_;
  std::map<Key, BlockGrid> known_;
};

}  // namespace tessera::plan::verify

// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// The work of a subgraph: the blocks in which engines do it, and its amount.
namespace tessera::plan::verify {

// The blocks into which an engine cuts the part of a result that it makes: docs/program.md, "Output
// blocks". Boxes are [batch, channels, rows, columns].
struct BlockGrid {
  std::vector<int64_t> block;  // the largest one
  std::vector<int64_t> input;  // the input of one block, with all channels
  int64_t areas = 1;           // blocks along batch, rows and columns
  int64_t layers = 1;          // blocks along the channels

  // Returns how often the input of a block is read.
  int64_t InputFetches(const graph::Operator& op) const {
    return op.kind == base::OperatorKind::kDepthwise ? areas : base::SaturatingMul(areas, layers);
  }
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

// Work and off-chip traffic of a subgraph, counted tile by tile.

// The work of one or many tiles. Bytes are those of the tensors' homes, unless the home is the tile
// memory.
struct Work {
  int64_t macs = 0;
  std::map<int, int64_t> macs_of;  // by operator; add up to `macs`
  int64_t recomputed_macs = 0;
  int64_t unknown_work = 0;  // operators that do not state their work
  // by cause: "inputs", "outputs", "weights"; causes without bytes are absent
  std::map<std::string, int64_t> off_chip;
};

// Multiply-accumulates of `op` for the part `output` of its output.
int64_t MacsFor(const graph::Graph& network, const graph::Operator& op, const Box& output);

class WorkCount {
 public:
  WorkCount(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);
  void Add(const Tile& tile);

  // MACs beyond those of each operator's whole output count as recomputed.
  Work Finish() const;

 private:
  void Move(const std::string& cause, int tensor, const Box& box);
  void MoveSlices(int tensor, const Box& need);
  void ReadInputsOfBlocks(const Tile& tile);
  void ReadConstants(const Tile& tile);
  void ReadConstantOfSplitK(int64_t channels);

  const Plan& plan_;
  const std::vector<Users>& users_;
  const Subgraph& subgraph_;
  std::optional<KSlices> k_slices_;
  std::map<int, Held> held_;
  std::map<int, int64_t> macs_;  // by operator
  BlockGrids grids_;
  Work work_;
};

}  // namespace tessera::plan::verify

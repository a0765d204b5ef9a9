// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/output_blocks.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// Work and off-chip traffic of a subgraph, counted tile by tile.
namespace tessera::plan::verify {

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

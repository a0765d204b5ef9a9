#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tessera/plan/depth.h"
#include "tessera/plan/sizes.h"
#include "tessera/plan/tiles.h"

// Work and off-chip traffic of a subgraph, counted tile by tile.
namespace tessera::plan {

// What one or many tiles do. Bytes are those of the tensors' homes, wherever that is not the tile memory.
struct Work {
  int64_t macs = 0;
  std::map<int, int64_t> macs_of;  // by operator; add up to `macs`
  int64_t recomputed_macs = 0;
  int64_t unknown_work = 0;  // operators that do not state theirs
  std::map<std::string, int64_t>
      off_chip;  // by cause: "inputs", "outputs", "weights"; causes without bytes are absent
};

// Multiply-accumulates of `op` for the part `output` of its output.
int64_t MacsFor(const graph::Graph& network, const graph::Operator& op, const Box& output);

class WorkCount {
 public:
  WorkCount(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);
  void Add(const Tile& tile);

  // MACs beyond those that each operator's whole output takes were spent again.
  Work Finish() const;

 private:
  void Move(const std::string& cause, int tensor, const Box& box);
  void MoveSlices(int tensor, const Box& need);
  void ReadConstants();
  void ReadConstantByDepth(int64_t channels);

  const Plan& plan_;
  const std::vector<Users>& users_;
  const Subgraph& subgraph_;
  std::optional<DepthSlices> depth_;
  std::map<int, Held> held_;
  std::map<int, int64_t> macs_;  // by operator
  Work work_;
};

}  // namespace tessera::plan

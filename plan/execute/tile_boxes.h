#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/execute/elements.h"
#include "tessera/plan/plan.h"

// Which part of every tensor each tile of a subgraph is about.
namespace tessera::plan::execute {

// Who makes and who reads a tensor.
struct Users {
  int maker = -1;  // -1: nobody, it is there from the beginning
  std::vector<int> readers;
  bool MadeIn(graph::Interval interval) const { return interval.first <= maker && maker <= interval.last; }
};
std::vector<Users> UsersOf(const graph::Graph& network);

// What an axis of a tensor of this rank means; nullopt for ranks without names.
std::optional<base::Axis> MeaningOf(size_t rank, size_t axis);

struct TileBoxes {
  std::map<int, Box> held;    // all of a tensor that the tile reads or makes; no constants
  std::map<int, Box> leaves;  // what it answers for of each tensor that leaves the subgraph
};

// Tiles are numbered row-major over the first result of the subgraph's last operator.
class Tiles {
 public:
  Tiles(const graph::Graph& network, const std::vector<Users>& users, const Subgraph& subgraph);

  int64_t Count() const { return count_; }  // at most 2^62
  TileBoxes At(int64_t tile) const;         // 0 <= tile < Count()

  // The most that any tile holds of each tensor, axis by axis. Cost: that of At for all tiles.
  std::map<int, std::vector<int64_t>> LargestExtents() const;

 private:
  Box ShareOf(int tensor, const Box& tile) const;
  const graph::Shape& ShapeOf(int tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].shape;
  }

  const graph::Graph& network_;
  const Subgraph& subgraph_;
  int tiled_ = 0;             // the tensor that is cut
  std::vector<int> leaving_;  // made here, wanted elsewhere
  int64_t count_ = 1;
};

}  // namespace tessera::plan::execute

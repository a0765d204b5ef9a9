// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::search::cost {

// Returns the lengths of a box.
graph::tiling::Extents ExtentsOf(const graph::ops::Box& box);

// The interval as one tile with the whole output: for every tensor the hull that this tile needs,
// and the box within that hull that the tiles of every other tiling also cover. Graph and usages
// must outlive this object.
class Coverage {
 public:
  Coverage(const graph::Graph& graph, std::span<const graph::Usage> usages,
           graph::Interval interval);

  // The interval as one tile.
  const graph::tiling::TiledSubgraph& Whole() const { return whole_; }

  // Returns the number of elements along each axis that the single tile needs of a tensor of the
  // interval.
  graph::tiling::ExtentsView NeededOf(int tensor) const;

  bool Inside(int op) const { return whole_.interval.first <= op && op <= whole_.interval.last; }

  // MadeBy returns the box of an operator's first output that its tiles together make at least.
  // ReadOf returns the box of a tensor from outside the interval that the tiles read at least. Both
  // return nullopt if nothing is certain.
  const std::optional<graph::ops::Box>& MadeBy(int op) const {
    return made_[static_cast<size_t>(op - whole_.interval.first)];
  }
  const std::optional<graph::ops::Box>& ReadOf(int tensor) const { return read_[SlotOf(tensor)]; }

  // Returns those of the tensors, which ascend, that the operators of the interval use.
  std::vector<int> Touched(std::span<const int> tensors) const;

  // Returns whether the tiles together make at least what the single tile makes.
  bool MakesTheHull(int op) const;

  // Returns whether the tiles of the operator make all of its results and together read at least
  // the hulls of its operands, each operand as far as a tile needs it.
  bool ReadsAndMakesAll(int op) const;

 private:
  const graph::Operator& OpAt(int op) const { return graph_->operators[static_cast<size_t>(op)]; }
  bool IsWhole(int tensor, const graph::ops::Box& box) const;
  const graph::ops::Box& HullOf(int tensor) const { return hulls_[SlotOf(tensor)]; }
  std::optional<graph::ops::Box> FindMade(int op) const;
  std::optional<graph::ops::Box> FindRead(int tensor) const;
  std::optional<graph::ops::Box> ReadBy(int op, const graph::ops::OperandShapes& shapes,
                                        size_t operand) const;
  size_t SlotOf(int tensor) const;
  bool Leaves(int tensor) const;

  const graph::Graph* graph_;
  std::span<const graph::Usage> usages_;
  graph::tiling::TiledSubgraph whole_;
  std::vector<graph::ops::Box> hulls_;                // of the tensors of the single tile
  std::vector<std::optional<graph::ops::Box>> made_;  // by operator of the interval
  std::vector<std::optional<graph::ops::Box>> read_;  // of the tensors of the single tile
};

}  // namespace tessera::search::cost

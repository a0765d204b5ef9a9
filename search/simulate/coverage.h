#pragma once

#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"

// What the tiles of an interval do together at least, however it is cut.
namespace tessera::search {

// Seen from one tile of the whole output: the hulls that it needs of every tensor, and which of them the tiles of any other
// cut cover as well. Graph and usages outlive it.
class Coverage {
 public:
  Coverage(const graph::Graph& graph, std::span<const graph::Usage> usages, graph::Interval interval);

  // The interval as one tile.
  const graph::TiledSubgraph& Whole() const { return whole_; }

  // Elements along each axis that the one tile needs of a tensor of the interval.
  graph::ExtentsView NeededOf(int tensor) const;

  bool Inside(int op) const { return whole_.interval.first <= op && op <= whole_.interval.last; }

  // Whether the operator's tiles together make at least what the one tile makes.
  bool Counts(int op) const { return counted_[static_cast<size_t>(op - whole_.interval.first)]; }

  // Whether operators that count read the whole hull of the tensor, one of them or several in turn along one axis.
  bool SurelyRead(int tensor) const;

  // Whether this operator's tiles make all of its results and together read, each operand as far as a tile needs it, at
  // least the hulls of its operands.
  bool ReadsAndMakesAll(int op) const;

 private:
  const graph::Operator& OpAt(int op) const { return graph_->operators[static_cast<size_t>(op)]; }
  bool IsNeededWhole(const graph::Operator& op) const;
  bool ReadsWithoutHoles(const graph::Operator& op, int input) const;
  bool CoverTheHull(int tensor, const std::vector<int>& readers) const;
  int ReadersInside(int tensor) const;
  size_t SlotOf(int tensor) const;
  bool Leaves(int tensor) const;

  const graph::Graph* graph_;
  std::span<const graph::Usage> usages_;
  graph::TiledSubgraph whole_;
  std::vector<graph::Box>
      regions_;  // of the one tile, parallel to its tensors; empty where none has several readers
  std::vector<bool> counted_;
};

}  // namespace tessera::search

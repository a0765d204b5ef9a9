#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/propagation.h"
#include "tessera/graph/tiling.h"

namespace tessera::graph {

// What hangs on the rows of an interval's last output, found once for all tile shapes.
class RowStructure {
 public:
  // The graph, and the propagation, which is that of the interval, outlive it. The last output has rows.
  RowStructure(const Graph& graph, Interval interval, const Propagation& propagation);

  // Whether something ties rows to columns or images, or may, so that no strip stands for another.
  bool IsTied() const { return tied_; }

  // Of one tensor.
  struct Slot {
    std::optional<size_t> rows;  // the axis
    std::vector<size_t> along;   // axes that follow from rows of the last output, and `rows`
    bool leaves = false;
    bool state = false;
  };
  const std::vector<Slot>& Slots() const { return slots_; }

  // Those through which tiles ask for something; and whether some tile might not, for what it makes.
  const std::vector<const Propagation::Ask*>& Asks() const { return asks_; }
  bool MayBeEmpty() const { return may_be_empty_; }

  const Graph& TheGraph() const { return *graph_; }
  Interval TheInterval() const { return interval_; }
  const Propagation& ThePropagation() const { return *propagation_; }

 private:
  void FindSlots();
  std::vector<Propagation::Dependence> FindBehind(Propagation::AxisSet rows,
                                                  Propagation::AxisSet others) const;
  void FindAsks();

  const Graph* graph_;
  Interval interval_;
  const Propagation* propagation_;
  bool tied_ = false;
  bool may_be_empty_ = false;
  std::vector<Slot> slots_;
  std::vector<const Propagation::Ask*> asks_;
};

}  // namespace tessera::graph

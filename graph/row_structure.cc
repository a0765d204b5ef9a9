#include "tessera/graph/row_structure.h"

#include <algorithm>
#include <span>

namespace tessera::graph {
namespace {

using AxisSet = Propagation::AxisSet;

AxisSet BitOf(const Shape& output, Axis axis) {
  const std::optional<size_t> index = AxisOf(output, axis);
  return index ? AxisSet{1} << *index : 0;
}

}  // namespace

RowStructure::RowStructure(const Graph& graph, Interval interval, const Propagation& propagation)
    : graph_(&graph), interval_(interval), propagation_(&propagation) {
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  const AxisSet rows = BitOf(output, Axis::kRows);
  const AxisSet others = BitOf(output, Axis::kBatch) | BitOf(output, Axis::kColumns);
  FindSlots();
  const std::vector<Propagation::Dependence> behind = FindBehind(rows, others);
  for (int op = interval.first; op <= interval.last; ++op)
    tied_ = tied_ || IsBarrier(graph.operators[static_cast<size_t>(op)]);
  for (const Propagation::Ask& ask : propagation.Asks()) {
    for (const AxisMap& map : ask.maps)
      tied_ = tied_ || (map.MayBeEmpty() && propagation.AxesBehind(ask, map, behind) != 0);
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    for (size_t axis = 0; axis < propagation.ShapeOf(i).size(); ++axis) {
      const AxisSet axes = behind[propagation.Begin(i) + axis].axes;
      if ((axes & rows) == 0) continue;
      slots_[i].along.push_back(axis);
      tied_ = tied_ || (axes & others) != 0;
    }
  }
  if (!tied_) FindAsks();
}

void RowStructure::FindSlots() {
  for (size_t i = 0; i < propagation_->Tensors().size(); ++i) {
    Slot& slot = slots_.emplace_back();
    slot.rows = AxisOf(propagation_->ShapeOf(i), Axis::kRows);
    slot.leaves = propagation_->Leaves(i);
    slot.state = graph_->tensors[static_cast<size_t>(propagation_->Tensors()[i])].state;
  }
}

// The cut axes behind each axis, whoever of those that ask for the tensor asks in a tile. Of rows each tile may make others.
std::vector<Propagation::Dependence> RowStructure::FindBehind(AxisSet rows, AxisSet others) const {
  std::vector<Propagation::Dependence> behind(propagation_->Size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    const size_t begin = propagation_->Begin(i);
    if (slots_[i].rows) behind[begin + *slots_[i].rows].axes |= rows;
    for (size_t axis = 0; axis < propagation_->ShapeOf(i).size() && slots_[i].leaves; ++axis) {
      const std::optional<size_t> source = propagation_->ShareSource(i, axis);
      if (source) behind[begin + axis].axes |= (rows | others) & (AxisSet{1} << *source);
    }
  }
  for (const Propagation::Ask& ask : propagation_->Asks()) {
    for (size_t axis = 0; axis < ask.maps.size(); ++axis) {
      behind[propagation_->Begin(ask.input) + axis].axes |=
          propagation_->AxesBehind(ask, ask.maps[axis], behind);
    }
  }
  return behind;
}

// What no cut axis decides over is empty in all tiles or in none.
void RowStructure::FindAsks() {
  std::vector<Extent> regions(propagation_->Size());
  propagation_->Run(WholeBox(propagation_->ShapeOf(propagation_->LastSlot())), regions);
  for (const Propagation::Ask& ask : propagation_->Asks()) {
    const size_t begin = propagation_->Begin(ask.output);
    const auto output =
        std::span<const Extent>(regions).subspan(begin, propagation_->Begin(ask.output + 1) - begin);
    const bool is_asked =
        std::none_of(output.begin(), output.end(), [](const Extent& e) { return e.Length() == 0; });
    const bool is_empty = is_asked && ask.may_be_empty &&
                          std::any_of(ask.maps.begin(), ask.maps.end(),
                                      [&](const AxisMap& map) { return map.Apply(output).Length() == 0; });
    if (!is_asked || is_empty) continue;
    asks_.push_back(&ask);
    may_be_empty_ = may_be_empty_ || ask.may_be_empty;
  }
}

}  // namespace tessera::graph

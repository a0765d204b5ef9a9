#include <algorithm>

#include "tessera/plan/execute/places.h"
#include "tessera/plan/execute/reads.h"

// Where an operator that adds up in K slices finds its part of a round (docs/program.md, "Split
// K"): slices of operands in the round's slot, and the sums of the whole tile.
//
//     slot 0 | slice 0, slice 2, ..          |   a feature is laid out like a tile of that
//     slot 1 | slice 1, slice 3, ..  | table |   extent, a constant in row-major order; the table
//     sums   | of all slices so far  |           follows where its last slice ends, if that is full
namespace tessera::plan::execute {

Place Places::InSlot(int op, int tensor, int content, const RunIndex& turn,
                     const Intent& intent) const {
  const int buffer = BufferOf({BufferKind::kSlice, subgraph_, tensor, op, turn.phase, turn.slot});
  if (buffer >= 0) return InBuffer(buffer, content, intent);
  Place place;
  place.content = content;
  return place;
}

Place Places::OfKSlice(int op, int tensor, const RunIndex& turn, const Slice& slice,
                       const Box& held, const Intent& intent) const {
  Place place = InSlot(op, tensor, tensor, turn, intent);
  if (plan_.network.tensors[static_cast<size_t>(tensor)].constant) {
    LayOutInOrder(place, held);
    return place;
  }
  std::vector<int64_t> extents = LargestOf(tensor, {held, held, 0}).held;
  extents[slice.axis] = std::min(extents[slice.axis], slice.granularity);
  LayOut(place, RoleOf(tensor), extents, held, PadsOf(tensor, Current().interval));
  return place;
}

Place Places::OfSplitKTable(int op, int constant, const RunIndex& turn, const Slice& slice,
                            const Range& channels, const Intent& intent) const {
  const int content = contents_.TablesOf(constant);
  Place place = InSlot(op, constant, content, turn, intent);
  const graph::Operator& user = plan_.network.operators[static_cast<size_t>(op)];
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(constant)];
  const FilterAxes axes = *FilterAxesOf(plan_.network, user, 0);
  const int64_t all_channels = facts.shape[axes.constant];
  const int64_t each = contents_.TableBytes(user) / all_channels;
  LayOutInOrder(place, {{channels.begin * each, channels.end * each}});
  const auto largest = largest_.find(user.outputs.front());
  const int64_t most =
      largest == largest_.end() ? channels.end - channels.begin : largest->second.held[axes.output];
  const int64_t elements = graph::ElementsOf(facts.shape) / facts.shape[slice.axis] / all_channels *
                           slice.granularity * most;
  place.base += base::BytesOf(facts.type, elements) * contents_.CellsPerByte();
  return place;
}

Place Places::OfPartialSums(int op, int phase, const Box& held, const Intent& intent) const {
  const int content = contents_.PartialSumsOf(op);
  const int buffer = BufferOf({BufferKind::kAccumulator, subgraph_, -1, op, phase, 0});
  Place place;
  place.content = content;
  if (buffer >= 0) place = InBuffer(buffer, content, intent);
  LayOutInOrder(place, held);
  return place;
}

}  // namespace tessera::plan::execute

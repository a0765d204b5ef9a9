// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/places.h"

// docs/program.md, "Inside a buffer": batch by batch, row by row, in each row column by column, in
// each column channel by channel, with the pitches of the largest tile. A tile of any size begins
// at the buffer's first byte, after the pads:
//
//     pads above                       .------------.
//                                      | . . . . .  |
//     pad  [0, c0] [0, c1] pad pad     | . a b c .  |   row pitch
//     pad  [1, c0] [1, c1] pad pad     | . d e f .  |
//     pads below                       '------------'
//
// Constants, and tensors whose axes have no names, are in row-major order without gaps; a
// constant's table follows it.
//
// Kept rows lie before the rows that are made, in one of three ways ("Cached halo"):
//
//     rolling buffer  | . . m m k k . |  one buffer of R rows: row j ever made lies at j mod R
//
//     line buffer     | k k m m m |      one tile buffer; kept rows wait in a line between tiles
//
//     adjacent        | . k k | m m m |  the halo, and directly after it the tile buffer
//                       halo    tile
//
// Stored pads lie before the first row and after the last one; in a rolling buffer, before and
// after all R rows. If a halo buffer holds rows, it also holds the pads above them, and the rows
// that are made begin at the start of the tile buffer.
namespace tessera::plan::execute {
namespace {

using base::Axis;
using hw_profiles::HaloStorage;

// Lays out `place.axes` with the row-major numbers of the whole tensor.
void NumberAxes(Place& place, const graph::Shape& shape) {
  place.axes.resize(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    place.axes[axis].extent = shape[axis];
    place.axes[axis].number_step = step;
    step *= shape[axis];
  }
}

}  // namespace

std::vector<int64_t> StridesOf(const std::vector<int64_t>& extents,
                               const hw_profiles::RoleLayout& layout, int64_t element_cells,
                               int64_t cells_per_byte) {
  const size_t rank = extents.size();
  std::map<Axis, int64_t> extent = {
      {Axis::kBatch, 1}, {Axis::kChannels, 1}, {Axis::kRows, 1}, {Axis::kColumns, 1}};
  for (size_t axis = 0; axis < rank; ++axis) {
    if (const std::optional<Axis> meaning = MeaningOf(rank, axis)) extent[*meaning] = extents[axis];
  }
  std::map<Axis, int64_t> step;
  step[Axis::kChannels] = element_cells;
  step[Axis::kColumns] =
      base::RoundUp(extent[Axis::kChannels], layout.channel_block) * element_cells;
  step[Axis::kRows] = base::RoundUp(extent[Axis::kColumns] * step[Axis::kColumns],
                                    layout.row_pitch_bytes * cells_per_byte);
  step[Axis::kBatch] = extent[Axis::kRows] * step[Axis::kRows];
  std::vector<int64_t> strides(rank);
  int64_t outer = step[Axis::kBatch];  // between neighbours along the next axis outside the rows
  for (size_t axis = rank; axis-- > 0;) {
    const Axis meaning = MeaningOf(rank, axis).value_or(Axis::kBatch);
    strides[axis] = meaning == Axis::kBatch ? outer : step[meaning];
    if (meaning == Axis::kBatch) outer *= extents[axis];
  }
  return strides;
}

int64_t PositionOf(const AxisPlace& axis, int64_t index) {
  if (index < 0) return index;
  const int64_t rows = axis.modulus > 0 ? axis.modulus : axis.held.end - axis.held.begin;
  if (index >= axis.extent) return rows + index - axis.extent;
  const int64_t position = index - axis.held.begin;
  if (axis.modulus == 0) return position;
  const int64_t turned = (axis.made_before + position) % axis.modulus;
  return turned < 0 ? turned + axis.modulus : turned;
}

ElementSet WithPads(const Place& place, const Box& box) {
  ElementSet elements = AllOf(box);
  for (size_t axis = 0; axis < place.axes.size(); ++axis) {
    const AxisPlace& at = place.axes[axis];
    std::vector<int64_t>& indices = elements.axes[axis];
    const bool rolling_buffer = at.modulus > 0;
    const bool first = box[axis].begin == at.held.begin;
    const bool opens_rolling_buffer = first && at.made_before == 0 && !indices.empty();
    const bool last = box[axis].end == at.held.end;
    if (place.padded_around || (rolling_buffer ? opens_rolling_buffer : first)) {
      for (int64_t pad = 1; pad <= at.pad_low; ++pad) indices.insert(indices.begin(), -pad);
    }
    if (place.padded_around || (rolling_buffer ? opens_rolling_buffer : last)) {
      for (int64_t pad = 0; pad < at.pad_high; ++pad) indices.push_back(at.extent + pad);
    }
  }
  return elements;
}

verify::Pads Places::PadsOf(int tensor) const {
  return verify::PadsOf(plan_, users_[static_cast<size_t>(tensor)], Current());
}

// The largest extents that any tile holds.
std::vector<int64_t> Places::LargestOf(int tensor, const Box& held) const {
  const auto largest = largest_->Extents().find(tensor);
  if (largest == largest_->Extents().end()) return ExtentsOf(held);
  std::vector<int64_t> extents = largest->second;
  if (largest_->Rows().contains(tensor)) extents[*RowAxisOf(extents.size())] = RowsOf(tensor).held;
  return extents;
}

verify::RowTally Places::RowsOf(int tensor) const {
  const auto tally = largest_->Rows().find(tensor);
  return tally == largest_->Rows().end() ? verify::RowTally{} : tally->second;
}

Place Places::OfTile(int tensor, int phase, const verify::Tile& tile, const Intent& intent) const {
  const int buffer = BufferOf(here_->TileOf(tensor, phase));
  if (buffer < 0) return OfWhole(tensor, intent);
  Place place = InBuffer(buffer, tensor, intent);
  const Box held = HeldOf(tile, tensor);
  std::vector<int64_t> extents = LargestOf(tensor, held);
  const std::optional<size_t> rows = RowAxisOf(held.size());
  const bool rolls = rows && here_->Caches(tensor, HaloStorage::kRollingBuffer);
  if (rolls && verify::IsDoubleBuffered(plan_, here_->Current()) &&
      RoleOf(tensor) != base::TensorRole::kFeature)
    extents[*rows] = RowsOf(tensor).with_next;
  LayOut(place, RoleOf(tensor), extents, held, PadsOf(tensor));
  if (rolls) {
    AxisPlace& axis = place.axes[*rows];
    axis.modulus = std::max<int64_t>(1, extents[*rows]);
    const auto made_before = tile.made_before.find(tensor);
    if (made_before != tile.made_before.end()) axis.made_before = made_before->second;
  } else if (rows && here_->Current().halo == HaloStorage::kAdjacent) {
    JoinHalo(place, phase, KeptOf(tile, tensor)[*rows], intent);
  }
  return place;
}

void Places::JoinHalo(Place& place, int phase, const Range& kept, const Intent& intent) const {
  if (kept.Length() == 0) return;
  const AxisPlace& axis = place.axes[*RowAxisOf(place.axes.size())];
  place.base -= (axis.pad_low + kept.Length()) * axis.address_step;
  const int halo = BufferOf(here_->HaloOf(place.content, phase));
  if (halo < 0 || intent.by != Intent::By::kEngine || intent.kind != problem::AccessKind::kRead)
    return;
  const Place before = InBuffer(halo, place.content, intent);
  place.cells.begin -= before.cells.end - before.cells.begin;
  if (place.refusal.empty()) place.refusal = before.refusal;
}

Place Places::OfKept(int tensor, int phase, const verify::Tile& tile, const Intent& intent) const {
  const bool line = here_->Caches(tensor, HaloStorage::kLineBuffer);
  const int buffer = BufferOf(line ? here_->LineOf(tensor) : here_->HaloOf(tensor, phase));
  const Box kept = KeptOf(tile, tensor);
  const std::optional<size_t> rows = RowAxisOf(kept.size());
  Place place;
  place.content = tensor;
  if (buffer < 0 || !rows) return place;
  place = InBuffer(buffer, tensor, intent);
  std::vector<int64_t> extents = LargestOf(tensor, HeldOf(tile, tensor));
  extents[*rows] = RowsOf(tensor).kept;
  verify::Pads pads = PadsOf(tensor);
  const int64_t above = pads.low[0];
  pads.low[0] = pads.high[0] = 0;
  LayOut(place, RoleOf(tensor), extents, kept, pads);
  if (line) return place;
  AxisPlace& axis = place.axes[*rows];
  axis.pad_low = above;
  place.base += place.cells.end - place.cells.begin;  // they are its last rows
  place.base -= kept[*rows].Length() * axis.address_step;
  return place;
}

void Places::LayOutInOrder(Place& place, const Box& held) const {
  NumberAxes(place, contents_.ShapeOf(place.content));
  int64_t step = place.element_cells;
  for (size_t axis = held.size(); axis-- > 0;) {
    place.axes[axis].held = held[axis];
    place.axes[axis].address_step = step;
    step *= held[axis].end - held[axis].begin;
  }
}

void Places::LayOut(Place& place, base::TensorRole role, const std::vector<int64_t>& extents,
                    const Box& held, const verify::Pads& pads) const {
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(place.content)];
  const size_t rank = extents.size();
  if (!MeaningOf(rank, 0)) return LayOutInOrder(place, held);
  NumberAxes(place, facts.shape);
  std::vector<int64_t> stored = extents;
  for (size_t axis = 0; axis < rank; ++axis) {
    AxisPlace& at = place.axes[axis];
    at.held = held[axis];
    if (rank != 4 || axis < 2) continue;
    at.pad_low = pads.low.at(axis - 2);
    at.pad_high = pads.high.at(axis - 2);
    stored[axis] += at.pad_low + at.pad_high;
  }
  const std::vector<int64_t> steps = StridesOf(stored, hw_profiles::LayoutOf(plan_.profile, role),
                                               place.element_cells, contents_.CellsPerByte());
  for (size_t axis = 0; axis < rank; ++axis) {
    AxisPlace& at = place.axes[axis];
    at.address_step = steps[axis];
    place.base += at.pad_low * at.address_step;
  }
}

}  // namespace tessera::plan::execute

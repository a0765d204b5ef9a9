#include <algorithm>

#include "tessera/plan/execute/places.h"

// Where a tile finds its part of a tensor (docs/program.md, "Cached halo"). Kept rows stand in
// front of those made, in three ways:
//
//     rolling buffer  | . . m m k k . |  one buffer of R rows: row j ever made lies at j mod R
//
//     line buffer     | k k m m m |      one tile buffer; kept rows wait in a line between tiles
//
//     adjacent        | . k k | m m m |  the halo, and directly behind it the tile buffer
//                       halo    tile
//
// Stored pads stand before the first row and behind the last one, of a rolling buffer before and
// behind all R rows. Where a halo holds rows, it holds the pads above them too, and what is made
// begins where the tile buffer does.
namespace tessera::plan::execute {
namespace {

std::vector<int64_t> LengthsOf(const Box& box) {
  std::vector<int64_t> extents;
  for (const Range& range : box) extents.push_back(range.end - range.begin);
  return extents;
}

}  // namespace

LargestPart Places::LargestOf(int tensor, const TilePart& part) const {
  const auto largest = largest_.find(tensor);
  return largest != largest_.end() ? largest->second : LargestPart{LengthsOf(part.held), 0, 0};
}

Place Places::OfTile(int tensor, int phase, const TilePart& part, const Intent& intent) const {
  const bool rolling_buffer = IsRollingBuffer(tensor);
  const int buffer = BufferOf(rolling_buffer ? RollingBuffer(tensor) : Tile(tensor, phase));
  if (buffer < 0) return OfWhole(tensor, intent);
  Place place = InBuffer(buffer, tensor, intent);
  LargestPart largest = LargestOf(tensor, part);
  const std::optional<size_t> rows = RowAxisOf(part.held.size());
  const bool double_buffered = plan_.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  const bool moves = RoleOf(tensor) != base::TensorRole::kFeature;
  if (rolling_buffer && rows && double_buffered && moves) largest.held[*rows] = largest.rows_beside;
  LayOut(place, RoleOf(tensor), largest.held, part.held, PadsOf(tensor, Current().interval));
  if (!rows) return place;
  if (rolling_buffer) CloseRollingBuffer(place, part, largest.held[*rows]);
  if (!rolling_buffer && Current().halo == hw_profiles::HaloStorage::kAdjacent)
    JoinHalo(place, phase, part, intent);
  return place;
}

void Places::CloseRollingBuffer(Place& place, const TilePart& part, int64_t rows) const {
  AxisPlace& axis = place.axes[*RowAxisOf(place.axes.size())];
  axis.modulus = std::max<int64_t>(1, rows);
  axis.made_before = part.made_before;
}

void Places::JoinHalo(Place& place, int phase, const TilePart& part, const Intent& intent) const {
  const size_t rows = *RowAxisOf(place.axes.size());
  const Range kept = KeptOf(part)[rows];
  if (kept.begin >= kept.end) return;
  const AxisPlace& axis = place.axes[rows];
  place.base -= (axis.pad_low + kept.end - kept.begin) * axis.address_step;
  const int halo = BufferOf(Halo(place.content, phase));
  if (halo < 0 || intent.by != Intent::By::kEngine || intent.kind != problem::AccessKind::kRead)
    return;
  const Place before = InBuffer(halo, place.content, intent);
  place.cells.begin -= before.cells.end - before.cells.begin;
  if (place.refusal.empty()) place.refusal = before.refusal;
}

Place Places::OfKept(int tensor, int phase, const TilePart& part, const Intent& intent) const {
  const std::optional<size_t> rows = RowAxisOf(part.held.size());
  const bool line = HasLine(tensor);
  const int buffer = BufferOf(line ? Line(tensor) : Halo(tensor, phase));
  Place place;
  place.content = tensor;
  if (buffer < 0 || !rows) return place;
  place = InBuffer(buffer, tensor, intent);
  const Box kept = KeptOf(part);
  LargestPart largest = LargestOf(tensor, part);
  largest.held[*rows] = largest.kept_rows;
  Pads pads = PadsOf(tensor, Current().interval);
  const int64_t above = pads.low[0];
  pads.low[0] = pads.high[0] = 0;
  LayOut(place, RoleOf(tensor), largest.held, kept, pads);
  if (line) return place;
  AxisPlace& axis = place.axes[*rows];
  axis.pad_low = above;
  const int64_t taken = (kept[*rows].end - kept[*rows].begin) * axis.address_step;
  place.base += place.cells.end - place.cells.begin - taken;  // they are its last rows
  return place;
}

}  // namespace tessera::plan::execute

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tessera/graph/tiling/cached_halo.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/row_structure.h"

// Tiles of one row determine whether tiles of any height share rows.
//
//     rows of the output   rows of a tensor, 2x2 windows, stride 2   3x3 windows
//     0  |-|               |---|                                     |-----|
//     1    |-|                 |---|                                     |-----|       shared
//     2      |-|                   |---|                                     |-----|
//
// If rows follow from rows alone, by maps that never decrease and are never empty, a taller tile
// needs the rows from the first one that its first row needs to the last one that its last row
// needs. So if each row of the output needs only rows of a tensor after all rows that previous rows
// need, the same holds for tiles of any height and for the tensors from which the tensor is made,
// and no rows are kept. All other cases count as shared: rows that follow from columns or images or
// the reverse, windows that may lie wholly in the padding, decreasing maps, very many rows.
namespace tessera::graph::tiling {
namespace {

constexpr int64_t kMostRows = 4096;  // rows that are propagated one by one

// Whether no output row requests rows below those of the previous output row.
bool NeverDecreases(const Propagation& propagation, const Propagation::Ask& ask, size_t output_rows,
                    size_t input_rows) {
  ops::Box part = ops::WholeBox(propagation.ShapeOf(ask.output));
  ops::Extent before;
  for (int64_t row = 0; row < propagation.ShapeOf(ask.output)[output_rows]; ++row) {
    part[output_rows] = {row, row + 1};
    const ops::Extent wanted = ask.maps[input_rows].Apply(part);
    if (wanted.begin < before.begin || wanted.end < before.end) return false;
    before = wanted;
  }
  return true;
}

bool AllNeverDecrease(const RowStructure& structure) {
  const Propagation& propagation = structure.ThePropagation();
  return std::all_of(
      structure.Asks().begin(), structure.Asks().end(), [&](const Propagation::Ask* ask) {
        const std::optional<size_t> output = structure.Slots()[ask->output].rows;
        const std::optional<size_t> input = structure.Slots()[ask->input].rows;
        return !output || !input || NeverDecreases(propagation, *ask, *output, *input);
      });
}

// Whether only rows depend on rows of the last output.
bool DecideOverRowsAlone(const RowStructure& structure) {
  return !structure.IsTied() && !structure.MayBeEmpty() &&
         std::all_of(structure.Slots().begin(), structure.Slots().end(),
                     [](const RowStructure::Slot& slot) {
                       return std::all_of(slot.along.begin(), slot.along.end(),
                                          [&slot](size_t axis) { return axis == slot.rows; });
                     });
}

}  // namespace

bool MayShareRows(const Graph& graph, Interval interval,
                  const std::function<bool(int tensor)>& counts) {
  const Propagation propagation(graph, interval);
  const RowStructure structure(graph, interval, propagation);
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  const size_t output_rows = *AxisOf(output, Axis::kRows);
  if (output[output_rows] > kMostRows || !DecideOverRowsAlone(structure)) return true;

  std::vector<int64_t> end_before(propagation.Tensors().size(), 0);
  std::vector<ops::Extent> regions(propagation.Size());
  ops::Box tile = ops::WholeBox(output);
  for (int64_t row = 0; row < output[output_rows]; ++row) {
    tile[output_rows] = {row, row + 1};
    propagation.Run(tile, regions);
    for (size_t slot = 0; slot < end_before.size(); ++slot) {
      const std::optional<size_t> rows = structure.Slots()[slot].rows;
      if (!rows || !counts(propagation.Tensors()[slot])) continue;
      const ops::Extent& wanted = regions[propagation.Begin(slot) + *rows];
      if (wanted.Length() == 0) continue;
      if (wanted.begin < end_before[slot]) return true;
      end_before[slot] = wanted.end;
    }
  }
  return !AllNeverDecrease(structure);
}

}  // namespace tessera::graph::tiling

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "tessera/graph/tiling/row_structure.h"

// One sweep down the rows for all strips.
//
// If rows follow from rows alone, every strip of tiles makes the same rows of every tensor, tile by
// tile, and each of its tiles has the strip's columns and images. So rows are swept once, and the
// rest is one propagation for each strip:
//
//     rows of a tensor           columns of it                 classes of tiles
//     tile 0   [-----)           strip 0  [------)             each class by rows, in each
//     tile 1    ...[--)          strip 1     [-------)         strip that differs from all
//     tile 2         ..[--)      strip 2          [-----)      others
//
// A tile may need less of a tensor than other tiles, if one of two readers has nothing left to
// make. Its columns are then those of the other reader, not the strip's. So each strip has regions
// for each such lack, and they decide whether a tensor's rows are kept:
//
//     add reads x and b, b = conv(x)
//     tile 0   x [----------)              the last tile makes the last row of add, but all of b
//     tile 1     [..-----)  lacks b        exists: of x it needs only the columns of add. Rows of
//                                          x are kept only if strips are as wide as x, because
//                                          then both are the same
//
// The sweep determines the lacks and depends on them, so it is repeated until both agree. There is
// only one solution, because a tensor depends only on later ones.
//
// Cost: one propagation for each strip and lack, and for each tile of one strip a step for each
// operand and axis that depends on rows.
namespace tessera::graph::tiling {
namespace {

constexpr int kMostSweeps = 4;

class Sweep {
 public:
  Sweep(const RowStructure& structure, const TileShape& tile, bool across_batch,
        base::PolledWork& work)
      : work_(work),
        structure_(structure),
        propagation_(structure.ThePropagation()),
        slots_(structure.Slots()),
        output_(propagation_.ShapeOf(propagation_.LastSlot())),
        tile_(tile),
        across_batch_(across_batch),
        tiles_(structure, tile) {}

  // False if strips must be swept one by one, or if the stop came first.
  bool Run() {
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      Begin();
      if (!work_.IsCutOff()) SweepOnce();
      if (work_.IsCutOff()) return false;
      if (!FindLacks()) return true;
      if (structure_.MayBeEmpty()) return false;
    }
    return false;
  }

  TiledSubgraph Outline() const {
    TiledSubgraph outline;
    outline.interval = structure_.TheInterval();
    outline.tile = tile_;
    outline.tiles = static_cast<int64_t>(tiles_.strips.Like().size() * tiles_.Count());
    outline.tensors = propagation_.Tensors();
    outline.largest.reserve(slots_.size());
    for (size_t slot = 0; slot < slots_.size(); ++slot) outline.largest.push_back(LargestOf(slot));
    outline.rows = rows_;
    return outline;
  }

  const RowTiles& Tiles() const { return tiles_; }

 private:
  void Begin() {
    tiles_.Begin(lacks_, work_);
    rows_.assign(slots_.size(), {});
  }

  void SweepOnce() {
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].leaves) AskForShares(slot);
    }
    // Asks are ordered last operator first, so all readers of an operator's output have been
    // visited before the operator.
    const Interval interval = structure_.TheInterval();
    size_t settled = static_cast<size_t>(interval.last - interval.first) + 1;
    for (const Propagation::Ask* ask : structure_.Asks()) {
      while (settled > ask->op) SettleOutputs(--settled);
      Apply(*ask);
      if (!work_.Continues(static_cast<int64_t>(tiles_.Count()))) return;
    }
    while (settled > 0) SettleOutputs(--settled);
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      // states are read before they are made
      if (!propagation_.MadeInside(slot) || slots_[slot].state) Settle(slot);
    }
  }

  // Whether the lacks differ from those of the last sweep.
  bool FindLacks() {
    std::vector<Lack> lacks = {{}};
    std::vector<size_t> lack_of;
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      Lack lack;
      for (size_t ask = 0; ask < structure_.Asks().size(); ++ask) {
        const Propagation::Ask& each = *structure_.Asks()[ask];
        if (!tiles_.Of(part, each.output).made && tiles_.Of(part, each.input).wanted)
          lack.push_back(ask);
      }
      for (size_t slot = 0; slot < slots_.size(); ++slot) {
        const RowTiles::Use& tile = tiles_.Of(part, slot);
        if (slots_[slot].leaves && !tile.shared && tile.wanted)
          lack.push_back(structure_.Asks().size() + slot);
      }
      const auto known = std::find(lacks.begin(), lacks.end(), lack);
      lack_of.push_back(static_cast<size_t>(known - lacks.begin()));
      if (known == lacks.end()) lacks.push_back(std::move(lack));
    }
    const bool others = lacks != lacks_ || lack_of != tiles_.lack_of;
    lacks_ = std::move(lacks);
    tiles_.lack_of = std::move(lack_of);
    return others;
  }

  // Every row of a strip leaves once.
  void AskForShares(size_t slot) {
    const std::optional<size_t> rows = slots_[slot].rows;
    ops::Box box = ops::WholeBox(output_);
    int64_t left = 0;
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      box[*AxisOf(output_, Axis::kRows)] = tiles_.parts[part];
      const std::span<ops::Extent> wanted = tiles_.Wanted(part, slot);
      RowTiles::Use& tile = tiles_.Of(part, slot);
      for (const size_t axis : slots_[slot].along)
        wanted[axis] = propagation_.ShareAlong(slot, axis, box);
      if (rows) {
        rows_[slot].shared =
            std::max(rows_[slot].shared, std::min(left, wanted[*rows].end) - wanted[*rows].begin);
        wanted[*rows].begin = std::max(wanted[*rows].begin, left);
        left = std::max(left, wanted[*rows].end);
        tile.share = wanted[*rows].Length();
      }
      tile.shared = !rows || tile.share > 0;
      tile.leaves = tile.shared;
      tile.wanted = tile.shared;
    }
  }

  void Apply(const Propagation::Ask& ask) {
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      if (!tiles_.Of(part, ask.output).made) continue;
      const std::span<const ops::Extent> made = tiles_.Made(part, ask.output);
      const std::span<ops::Extent> wanted = tiles_.Wanted(part, ask.input);
      bool& asked_before = tiles_.Of(part, ask.input).wanted;
      for (const size_t axis : slots_[ask.input].along) {
        const ops::Extent extent = ask.maps[axis].Apply(made);
        ops::Extent& hull = wanted[axis];
        hull = asked_before
                   ? ops::Extent{std::min(hull.begin, extent.begin), std::max(hull.end, extent.end)}
                   : extent;
      }
      asked_before = true;
    }
  }

  void SettleOutputs(size_t position) {
    const size_t op = static_cast<size_t>(structure_.TheInterval().first) + position;
    for (const int tensor : structure_.TheGraph().operators[op].outputs)
      Settle(propagation_.SlotOf(tensor));
  }

  void Settle(size_t slot) {
    const std::optional<size_t> rows = slots_[slot].rows;
    if (rows && KeepsRows(slot)) {
      SettleRows(slot);
    } else {
      for (size_t part = 0; part < tiles_.Count(); ++part) {
        tiles_.Of(part, slot).made = tiles_.Of(part, slot).wanted;
        CopyAlong(part, slot);
      }
    }
    if (rows) CountRows(slot);
  }

  void CopyAlong(size_t part, size_t slot) {
    for (const size_t axis : slots_[slot].along)
      tiles_.Made(part, slot)[axis] = tiles_.Wanted(part, slot)[axis];
  }

  bool KeepsRows(size_t slot) const {
    if (slots_[slot].state) return false;
    const std::vector<size_t> outer = OuterAxes(propagation_.ShapeOf(slot));
    std::optional<size_t> first;
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      if (!tiles_.Of(part, slot).wanted) continue;
      if (!first) first = part;
      for (const size_t axis : slots_[slot].along) {
        if (axis != slots_[slot].rows &&
            tiles_.Wanted(part, slot)[axis] != tiles_.Wanted(*first, slot)[axis])
          return false;
      }
      for (const Strip& strip : tiles_.strips.Distinct()) {
        const std::vector<ops::Extent>& here = strip.regions[tiles_.lack_of[part]];
        const auto has_images = [&](size_t axis) {
          const bool along = std::count(slots_[slot].along.begin(), slots_[slot].along.end(), axis);
          return (along ? tiles_.Wanted(part, slot)[axis] : here[propagation_.Begin(slot) + axis])
                     .Length() > 1;
        };
        if (!across_batch_ && std::any_of(outer.begin(), outer.end(), has_images)) return false;
        if (tiles_.lack_of[part] != tiles_.lack_of[*first] &&
            !AgreeElsewhere(slot, here, strip.regions[tiles_.lack_of[*first]]))
          return false;
      }
    }
    return true;
  }

  // Whether the regions agree along the axes that do not depend on rows.
  bool AgreeElsewhere(size_t slot, const std::vector<ops::Extent>& a,
                      const std::vector<ops::Extent>& b) const {
    const std::vector<size_t>& along = slots_[slot].along;
    for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size(); ++axis) {
      const size_t at = propagation_.Begin(slot) + axis;
      if (std::find(along.begin(), along.end(), axis) == along.end() && a[at] != b[at])
        return false;
    }
    return true;
  }

  // See cached_halo.cc.
  void SettleRows(size_t slot) {
    const size_t rows = *slots_[slot].rows;
    std::vector<int64_t> lowest(tiles_.Count());
    int64_t lo = std::numeric_limits<int64_t>::max();
    for (size_t part = tiles_.Count(); part-- > 0;) {
      if (tiles_.Of(part, slot).wanted) lo = std::min(lo, tiles_.Wanted(part, slot)[rows].begin);
      lowest[part] = lo;
    }
    int64_t end = 0;  // of the rows needed so far
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      RowTiles::Use& tile = tiles_.Of(part, slot);
      tile.kept = std::max<int64_t>(0, end - lowest[part]);
      if (!tile.wanted) continue;
      const ops::Extent fresh = {std::max(lowest[part], end),
                                 std::max(end, tiles_.Wanted(part, slot)[rows].end)};
      if (fresh.Length() == 0) continue;
      tile.made = true;
      CopyAlong(part, slot);
      tiles_.Made(part, slot)[rows] = fresh;
      end = fresh.end;
    }
    if (!slots_[slot].leaves) return;
    // A row is stored by the tile that makes it, although a later one may be the first with the row
    // in its share.
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      RowTiles::Use& tile = tiles_.Of(part, slot);
      tile.leaves = tile.made;
      tile.share = RowsMade(part, slot);
    }
  }

  int64_t RowsMade(size_t part, size_t slot) const {
    return tiles_.Of(part, slot).made ? tiles_.Made(part, slot)[*slots_[slot].rows].Length() : 0;
  }

  void CountRows(size_t slot) {
    RowCounts& counts = rows_[slot];
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      const int64_t kept = tiles_.Of(part, slot).kept;
      const int64_t made = RowsMade(part, slot);
      const bool ends_all = part + 1 == tiles_.Count() && tiles_.strips.Like().size() == 1;
      const int64_t next = ends_all ? 0 : RowsMade((part + 1) % tiles_.Count(), slot);
      counts.kept = std::max(counts.kept, kept);
      counts.made = std::max(counts.made, made);
      counts.held = std::max(counts.held, kept + made);
      counts.with_next = std::max(counts.with_next, kept + made + next);
    }
  }

  Extents LargestOf(size_t slot) const {
    const size_t begin = propagation_.Begin(slot);
    Extents largest(propagation_.ShapeOf(slot).size(), 0);
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      if (!tiles_.Of(part, slot).wanted) continue;
      for (size_t axis = 0; axis < largest.size(); ++axis) {
        const std::vector<size_t>& along = slots_[slot].along;
        if (std::find(along.begin(), along.end(), axis) != along.end()) {
          largest[axis] = std::max(largest[axis], tiles_.Wanted(part, slot)[axis].Length());
          continue;
        }
        for (const Strip& strip : tiles_.strips.Distinct())
          largest[axis] =
              std::max(largest[axis], strip.regions[tiles_.lack_of[part]][begin + axis].Length());
      }
    }
    return largest;
  }

  base::PolledWork& work_;
  const RowStructure& structure_;
  const Propagation& propagation_;
  const std::vector<RowStructure::Slot>& slots_;
  const Shape& output_;
  const TileShape& tile_;
  bool across_batch_;
  RowTiles tiles_;
  std::vector<Lack> lacks_ = {{}};  // the first: no lack
  std::vector<RowCounts> rows_;     // by slot
};

}  // namespace

std::optional<TiledSubgraph> SweepRows(const RowStructure& structure, const TileShape& tile,
                                       bool across_batch, const ClassTest& wants_classes,
                                       base::PolledWork& work) {
  Sweep sweep(structure, tile, across_batch, work);
  if (!sweep.Run()) return std::nullopt;
  TiledSubgraph subgraph = sweep.Outline();
  if (!wants_classes || wants_classes(subgraph)) AddRowClasses(sweep.Tiles(), subgraph, work);
  if (work.IsCutOff()) return TiledSubgraph();
  return subgraph;
}

}  // namespace tessera::graph::tiling

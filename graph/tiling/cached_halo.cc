// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/cached_halo.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "tessera/graph/ops/region.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/row_structure.h"
#include "tessera/graph/tiling/tiling.h"

// A sweep down the rows, tensor by tensor.
//
// Without caching, tiles can be treated one by one. Here a tile makes the rows that previous tiles
// have not made. So a tensor is settled for all tiles together, after all its readers. At that
// point the need of each tile is known:
//
//     rows      0  1  2  3  4  5  6  7  8
//     tile 0    [------------)                         made 0..4
//     tile 1          [.......------)                  kept 2..4, made 4..6      lo = 2
//     tile 2          .............                    needs nothing: kept 2..6, for tile 3
//     tile 3          [..............------)           kept 2..6, made 6..8
//
// Two numbers determine the rest: `lo`, the least row that this tile or a later one needs, and the
// end of the rows needed so far. Rows between them are present, for all needs and orders of the
// tiles. Nothing is assumed about the operators: if a tensor is needed in reverse order, the first
// tile makes all of it.
//
// The sweep starts again at each strip of tiles, independent of adjacent strips, and at each image
// of a batch that is cut:
//
//     tiles     0  3  6        columns that strips share are made for each of them
//               1  4  7
//               2  5  8
//
// If rows do not depend on columns or images, they are swept once for all strips (row_sweep.cc).
// Otherwise strips are swept one by one, as here. This is needed if a strip may lie wholly in the
// padding and need other rows than adjacent strips, and if one of two readers of a tensor has
// nothing left to make, so that only the columns of the other are needed.
//
// Cost: one propagation for each tile; all regions are kept in memory together.
namespace tessera::graph::tiling {
namespace {

class SweepByStrips {
 public:
  SweepByStrips(const Graph& graph, Interval interval, const Propagation& propagation,
                const TileShape& tile, bool across_batch, base::PolledWork& work)
      : work_(work),
        graph_(graph),
        interval_(interval),
        across_batch_(across_batch),
        propagation_(propagation),
        tiles_(BoxesOfStrips(propagation.ShapeOf(propagation.LastSlot()), tile)),
        strip_(PartsOf(propagation.ShapeOf(propagation.LastSlot()), tile,
                       AxisOf(propagation.ShapeOf(propagation.LastSlot()), Axis::kRows))
                   .size()),
        wanted_(tiles_.size() * propagation_.Size()),
        made_(wanted_.size()),
        kept_(tiles_.size() * Slots()),
        shares_(kept_.size()) {
    subgraph_.interval = interval;
    subgraph_.tile = tile;
    subgraph_.tiles = static_cast<int64_t>(tiles_.size());
    subgraph_.tensors = propagation_.Tensors();
    subgraph_.rows.resize(Slots());
  }

  TiledSubgraph Run() {
    if (Sweep()) SortIntoClasses();
    if (work_.IsCutOff()) return {};
    return std::move(subgraph_);
  }

  // False after a stop.
  bool Visit(const std::function<void(const TileBoxes&)>& visit) {
    if (!Sweep()) return false;
    const auto box = [](std::span<const ops::Extent> region) {
      return ops::Box(region.begin(), region.end());
    };
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      TileBoxes boxes;
      for (size_t slot = 0; slot < Slots(); ++slot) {
        boxes.needed.push_back(box(Region(wanted_, tile, slot)));
        boxes.made.push_back(box(Region(made_, tile, slot)));
        const ops::Box& share = shares_[tile * Slots() + slot];
        boxes.shares.push_back(share.empty() ? ops::Box(propagation_.ShapeOf(slot).size()) : share);
      }
      visit(boxes);
    }
    return true;
  }

 private:
  // Settles every tensor. False after a stop.
  bool Sweep() {
    for (size_t slot = 0; slot < Slots(); ++slot) {
      if (propagation_.Leaves(slot)) AskForShares(slot);
    }
    // Asks are ordered last operator first, so all readers of an operator's output have been
    // visited before the operator. A barrier's outputs request each other first, before they are
    // settled.
    size_t settled = static_cast<size_t>(interval_.last - interval_.first) + 1;
    for (const Propagation::Ask& ask : propagation_.Asks()) {
      const bool between_outputs = IsBetweenOutputs(ask);
      while (settled > ask.op + (between_outputs ? 1 : 0)) SettleOutputs(--settled);
      std::vector<ops::Extent>& asking = between_outputs ? wanted_ : made_;
      for (size_t tile = 0; tile < tiles_.size(); ++tile)
        Propagation::Apply(ask, Region(asking, tile, ask.output), Region(wanted_, tile, ask.input));
      if (!Continues()) return false;
    }
    while (settled > 0) SettleOutputs(--settled);
    for (size_t slot = 0; slot < Slots(); ++slot) {
      // states are read before they are made
      if (!propagation_.MadeInside(slot) || IsState(slot)) Settle(slot);
      if (!Continues()) return false;
    }
    return true;
  }

  // Called for each visit of all tiles. Returns false after the stop.
  bool Continues() { return work_.Continues(subgraph_.tiles); }

  bool BeginsStrip(size_t tile) const { return tile % strip_ == 0; }

  size_t Slots() const { return propagation_.Tensors().size(); }

  bool IsState(size_t slot) const {
    return graph_.tensors[static_cast<size_t>(subgraph_.tensors[slot])].state;
  }

  std::optional<size_t> RowsOf(size_t slot) const {
    return AxisOf(propagation_.ShapeOf(slot), Axis::kRows);
  }

  std::span<ops::Extent> Region(std::vector<ops::Extent>& regions, size_t tile, size_t slot) const {
    const size_t begin = propagation_.Begin(slot);
    return std::span(regions).subspan(tile * propagation_.Size() + begin,
                                      propagation_.Begin(slot + 1) - begin);
  }

  // Every row of a strip leaves once.
  void AskForShares(size_t slot) {
    const std::optional<size_t> rows = RowsOf(slot);
    int64_t left = 0;
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      ops::Box share = propagation_.ShareOf(slot, tiles_[tile]);
      if (BeginsStrip(tile)) left = 0;
      if (rows) {
        CountShared(slot, share[*rows], left);
        share[*rows].begin = std::max(share[*rows].begin, left);
        left = std::max(left, share[*rows].end);
      }
      if (ops::IsEmpty(share)) share.assign(share.size(), ops::Extent{});
      std::copy(share.begin(), share.end(), Region(wanted_, tile, slot).begin());
      shares_[tile * Slots() + slot] = std::move(share);
    }
  }

  void CountShared(size_t slot, const ops::Extent& share, int64_t left) {
    int64_t& shared = subgraph_.rows[slot].shared;
    shared = std::max(shared, std::min(left, share.end) - share.begin);
  }

  const Operator& At(size_t position) const {
    return graph_.operators[static_cast<size_t>(interval_.first) + position];
  }

  bool IsBetweenOutputs(const Propagation::Ask& ask) const {
    const std::vector<int>& outputs = At(ask.op).outputs;
    return IsBarrier(At(ask.op)) && std::any_of(outputs.begin(), outputs.end(), [&](int tensor) {
             return propagation_.SlotOf(tensor) == ask.input;
           });
  }

  void SettleOutputs(size_t position) {
    for (const int tensor : At(position).outputs) Settle(propagation_.SlotOf(tensor));
  }

  void Settle(size_t slot) {
    const std::optional<size_t> rows = RowsOf(slot);
    if (rows && KeepsRows(slot, *rows)) {
      SettleRows(slot, *rows);
    } else {
      for (size_t tile = 0; tile < tiles_.size(); ++tile) {
        const std::span<ops::Extent> wanted = Region(wanted_, tile, slot);
        std::copy(wanted.begin(), wanted.end(), Region(made_, tile, slot).begin());
      }
    }
    if (rows) CountRows(slot, *rows);
  }

  bool KeepsRows(size_t slot, size_t rows) {
    const Shape& shape = propagation_.ShapeOf(slot);
    const std::vector<size_t> outer = OuterAxes(shape);
    if (IsState(slot)) return false;
    std::span<const ops::Extent> first;
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      const std::span<const ops::Extent> wanted = Region(wanted_, tile, slot);
      if (BeginsStrip(tile)) first = {};
      if (wanted[rows].Length() == 0) continue;
      const bool images = std::any_of(outer.begin(), outer.end(),
                                      [&](size_t axis) { return wanted[axis].Length() > 1; });
      if (!across_batch_ && images) return false;
      if (first.empty()) first = wanted;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (axis != rows && wanted[axis] != first[axis]) return false;
      }
    }
    return true;
  }

  void SettleRows(size_t slot, size_t rows) {
    std::vector<int64_t> lowest(tiles_.size());
    int64_t lo = std::numeric_limits<int64_t>::max();
    for (size_t tile = tiles_.size(); tile-- > 0;) {
      const ops::Extent& wanted = Region(wanted_, tile, slot)[rows];
      if (wanted.Length() > 0) lo = std::min(lo, wanted.begin);
      lowest[tile] = lo;
      if (BeginsStrip(tile)) lo = std::numeric_limits<int64_t>::max();
    }
    int64_t end = 0;  // of the rows needed so far
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (BeginsStrip(tile)) end = 0;
      const std::span<const ops::Extent> wanted = Region(wanted_, tile, slot);
      kept_[tile * Slots() + slot] = std::max<int64_t>(0, end - lowest[tile]);
      const ops::Extent fresh = {std::max(lowest[tile], end), std::max(end, wanted[rows].end)};
      if (fresh.Length() == 0) continue;
      const std::span<ops::Extent> made = Region(made_, tile, slot);
      std::copy(wanted.begin(), wanted.end(), made.begin());
      made[rows] = fresh;
      end = fresh.end;
    }
    if (propagation_.Leaves(slot)) LeaveWhenMade(slot, rows);
  }

  // A row is stored by the tile that makes it, although a later one may be the first with the row
  // in its share. Of its columns only those of the strip are stored.
  void LeaveWhenMade(size_t slot, size_t rows) {
    ops::Box share;
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      const ops::Extent made = Region(made_, tile, slot)[rows];
      if (BeginsStrip(tile)) share = propagation_.ShareOf(slot, tiles_[tile]);
      share[rows] = made;
      shares_[tile * Slots() + slot] = made.Length() > 0 ? share : ops::Box(share.size());
    }
  }

  void CountRows(size_t slot, size_t rows) {
    RowCounts& counts = subgraph_.rows[slot];
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      const int64_t kept = kept_[tile * Slots() + slot];
      const int64_t made = Region(made_, tile, slot)[rows].Length();
      const int64_t next = MadeNext(tile, slot, rows);
      counts.kept = std::max(counts.kept, kept);
      counts.made = std::max(counts.made, made);
      counts.held = std::max(counts.held, kept + made);
      counts.with_next = std::max(counts.with_next, kept + made + next);
    }
  }

  // Rows that the tile visited after this one makes.
  int64_t MadeNext(size_t tile, size_t slot, size_t rows) {
    return tile + 1 < tiles_.size() ? Region(made_, tile + 1, slot)[rows].Length() : 0;
  }

  void SortIntoClasses() {
    std::map<std::vector<int64_t>, int> classes;
    std::vector<int64_t> figures;
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (!work_.Continues(static_cast<int64_t>(Slots()))) return;
      FindFigures(tile, figures);
      const auto [entry, fresh] = classes.try_emplace(figures, static_cast<int>(classes.size()));
      if (fresh) subgraph_.classes.push_back(ClassOf(tile));
      subgraph_.class_of.push_back(entry->second);
    }
    for (const int tiles : subgraph_.class_of)
      ++subgraph_.classes[static_cast<size_t>(tiles)].count;
    for (size_t slot = 0; slot < Slots(); ++slot) {
      Extents& largest = subgraph_.largest.emplace_back(propagation_.ShapeOf(slot).size(), 0);
      for (const TileClass& tiles : subgraph_.classes) {
        for (size_t axis = 0; axis < largest.size(); ++axis)
          largest[axis] = std::max(largest[axis], tiles.needed[slot][axis]);
      }
    }
  }

  // All numbers that distinguish classes, in one row.
  void FindFigures(size_t tile, std::vector<int64_t>& figures) const {
    figures.clear();
    const auto region_of = [&](const std::vector<ops::Extent>& regions) {
      return std::span(regions).subspan(tile * propagation_.Size(), propagation_.Size());
    };
    for (const ops::Extent& extent : region_of(wanted_)) figures.push_back(extent.Length());
    for (const ops::Extent& extent : region_of(made_)) figures.push_back(extent.Length());
    for (size_t slot = 0; slot < Slots(); ++slot) {
      for (const ops::Extent& extent : shares_[tile * Slots() + slot])
        figures.push_back(extent.Length());
      figures.push_back(kept_[tile * Slots() + slot]);
      figures.push_back(KeepsAfter(tile, slot));
    }
  }

  int64_t KeepsAfter(size_t tile, size_t slot) const {
    return tile + 1 < tiles_.size() ? kept_[(tile + 1) * Slots() + slot]
                                    : 0;  // 0 at the begin of a strip
  }

  TileClass ClassOf(size_t tile) {
    TileClass tiles;
    for (auto* rows : {&tiles.kept, &tiles.keeps}) rows->reserve(Slots());
    for (size_t slot = 0; slot < Slots(); ++slot) {
      AddLengths(Region(wanted_, tile, slot), tiles.needed);
      AddLengths(Region(made_, tile, slot), tiles.made);
      AddLengths(shares_[tile * Slots() + slot], tiles.share);
      tiles.kept.push_back(kept_[tile * Slots() + slot]);
      tiles.keeps.push_back(KeepsAfter(tile, slot));
    }
    AddMacs(graph_, interval_, propagation_, tiles);
    return tiles;
  }

  static void AddLengths(std::span<const ops::Extent> box, ExtentsList& list) {
    for (const ops::Extent& extent : box) list.AddAxis(extent.Length());
    list.EndTensor();
  }

  base::PolledWork& work_;
  const Graph& graph_;
  Interval interval_;
  bool across_batch_;
  const Propagation& propagation_;
  std::vector<ops::Box> tiles_;      // of the last output
  size_t strip_;                     // tiles in a strip
  std::vector<ops::Extent> wanted_;  // tile by tile the regions of all slots (propagation.h)
  std::vector<ops::Extent> made_;    // tile by tile the made regions of all slots
  std::vector<int64_t> kept_;        // tile by tile the rows of all slots
  std::vector<ops::Box> shares_;     // tile by tile, of the slots that leave
  TiledSubgraph subgraph_;
};

}  // namespace

bool ForEachTileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                            bool across_batch, const base::Stop* stop,
                            const std::function<void(const TileBoxes&)>& visit) {
  const Propagation propagation(graph, interval);
  base::PolledWork work(stop);
  return SweepByStrips(graph, interval, propagation, tile, across_batch, work).Visit(visit);
}

bool CutsStrips(const Shape& output, const TileShape& tile) {
  const std::optional<size_t> rows = AxisOf(output, Axis::kRows);
  if (!rows || tile.size() != output.size() || tile[*rows] == output[*rows]) return false;
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  for (size_t axis = 0; axis < output.size(); ++axis) {
    if (axis != *rows && axis != columns && axis != batch && tile[axis] < output[axis])
      return false;
  }
  return true;
}

TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                              bool across_batch) {
  const Propagation propagation(graph, interval);
  return TileKeepingRows(RowStructure(graph, interval, propagation), tile, across_batch, {},
                         nullptr);
}

TiledSubgraph TileKeepingRows(const RowStructure& structure, const TileShape& tile,
                              bool across_batch, const ClassTest& wants_classes,
                              const base::Stop* stop) {
  base::PolledWork work(stop);
  if (!structure.IsTied()) {
    if (auto swept = SweepRows(structure, tile, across_batch, wants_classes, work))
      return *std::move(swept);
  }
  if (!work.Continues()) return {};
  return SweepByStrips(structure.TheGraph(), structure.TheInterval(), structure.ThePropagation(),
                       tile, across_batch, work)
      .Run();
}

}  // namespace tessera::graph::tiling

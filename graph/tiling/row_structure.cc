// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/row_structure.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tessera/graph/ops/region.h"

namespace tessera::graph::tiling {

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
    for (const ops::AxisMap& map : ask.maps)
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

// The cut axes on which each axis depends, for every set of readers that request the tensor in a
// tile. Each tile may make different rows.
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

// A tensor that depends on no cut axis is empty in all tiles or in none.
void RowStructure::FindAsks() {
  std::vector<ops::Extent> regions(propagation_->Size());
  propagation_->Run(ops::WholeBox(propagation_->ShapeOf(propagation_->LastSlot())), regions);
  for (const Propagation::Ask& ask : propagation_->Asks()) {
    const size_t begin = propagation_->Begin(ask.output);
    const auto output = std::span<const ops::Extent>(regions).subspan(
        begin, propagation_->Begin(ask.output + 1) - begin);
    const bool is_asked = std::none_of(output.begin(), output.end(),
                                       [](const ops::Extent& e) { return e.Length() == 0; });
    const bool is_empty =
        is_asked && ask.may_be_empty &&
        std::any_of(ask.maps.begin(), ask.maps.end(),
                    [&](const ops::AxisMap& map) { return map.Apply(output).Length() == 0; });
    if (!is_asked || is_empty) continue;
    asks_.push_back(&ask);
    may_be_empty_ = may_be_empty_ || ask.may_be_empty;
  }
}

namespace {

std::vector<int64_t> FiguresOf(const Strip& strip) {
  std::vector<int64_t> figures = strip.shares;
  for (const std::vector<ops::Extent>& regions : strip.regions) {
    for (size_t i = 0; i < regions.size(); ++i) {
      figures.push_back(regions[i].Length());
      if (strip.regions.size() > 1)
        figures.push_back(regions[i].begin - strip.regions.front()[i].begin);
    }
  }
  return figures;
}

}  // namespace

std::vector<ops::Extent> PartsOf(const Shape& output, const TileShape& tile,
                                 std::optional<size_t> axis) {
  if (!axis) return {{0, 1}};
  std::vector<ops::Extent> parts;
  for (int64_t begin = 0; begin < output[*axis]; begin += tile[*axis])
    parts.push_back({begin, std::min(begin + tile[*axis], output[*axis])});
  return parts;
}

std::vector<ops::Extent> RowStrips::RegionsOf(const ops::Box& strip, const Lack& lack) const {
  const Propagation& propagation = structure_->ThePropagation();
  const std::vector<RowStructure::Slot>& slots = structure_->Slots();
  std::vector<ops::Extent> regions(propagation.Size());
  if (lack.empty()) {
    propagation.Run(strip, regions);
    return regions;
  }
  const auto lacks = [&lack](size_t what) {
    return std::binary_search(lack.begin(), lack.end(), what);
  };
  const auto region = [&](size_t slot) {
    const size_t begin = propagation.Begin(slot);
    return std::span(regions).subspan(begin, propagation.Begin(slot + 1) - begin);
  };
  const std::vector<const Propagation::Ask*>& asks = structure_->Asks();
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (!slots[slot].leaves || lacks(asks.size() + slot)) continue;
    for (size_t axis = 0; axis < propagation.ShapeOf(slot).size(); ++axis)
      region(slot)[axis] = propagation.ShareAlong(slot, axis, strip);
  }
  for (size_t ask = 0; ask < asks.size(); ++ask) {
    if (!lacks(ask))
      Propagation::Apply(*asks[ask], region(asks[ask]->output), region(asks[ask]->input));
  }
  return regions;
}

void RowStrips::Find(const std::vector<Lack>& lacks, base::PolledWork& work) {
  const Propagation& propagation = structure_->ThePropagation();
  const std::vector<RowStructure::Slot>& slots = structure_->Slots();
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  distinct_.clear();
  like_.clear();
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  std::map<std::vector<int64_t>, size_t> known;
  ops::Box box = ops::WholeBox(output);
  for (const ops::Extent& images : PartsOf(output, *tile_, batch)) {
    for (const ops::Extent& part : PartsOf(output, *tile_, columns)) {
      if (!work.Continues(static_cast<int64_t>(propagation.Asks().size() * lacks.size()))) return;
      if (batch) box[*batch] = images;
      if (columns) box[*columns] = part;
      Strip strip;
      for (const Lack& lack : lacks) strip.regions.push_back(RegionsOf(box, lack));
      for (size_t slot = 0; slot < slots.size(); ++slot) {
        if (slots[slot].leaves) propagation.AppendShareLengths(slot, box, strip.shares);
      }
      const auto [entry, fresh] = known.try_emplace(FiguresOf(strip), distinct_.size());
      if (fresh) distinct_.push_back(std::move(strip));
      like_.push_back(entry->second);
    }
  }
}

namespace {

std::vector<ops::Extent> RowsOf(const Propagation& propagation, const TileShape& tile) {
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  return PartsOf(output, tile, AxisOf(output, Axis::kRows));
}

}  // namespace

RowTiles::RowTiles(const RowStructure& rows, const TileShape& tile)
    : structure(&rows),
      slots(rows.Slots().size()),
      parts(RowsOf(rows.ThePropagation(), tile)),
      strips(rows, tile),
      lack_of(parts.size()) {}

void RowTiles::Begin(const std::vector<Lack>& lacks, base::PolledWork& work) {
  strips.Find(lacks, work);
  if (work.IsCutOff()) return;
  wanted.clear();
  for (const size_t lack : lack_of) {
    const std::vector<ops::Extent>& regions = strips.Distinct().front().regions[lack];
    wanted.insert(wanted.end(), regions.begin(), regions.end());
  }
  made = wanted;
  uses.assign(parts.size() * slots, {});
}

namespace {

class RowClasses {
 public:
  RowClasses(const RowTiles& tiles, base::PolledWork& work)
      : tiles_(tiles),
        work_(work),
        propagation_(tiles.structure->ThePropagation()),
        slots_(tiles.structure->Slots()) {}

  void AddTo(TiledSubgraph& subgraph) {
    std::map<std::vector<int64_t>, int> known;
    std::vector<int> class_of;       // of the tiles of one strip
    std::vector<size_t> first_part;  // by class
    std::vector<int64_t> figures;
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      if (!Continues()) return;
      FindFigures(part, figures);
      const auto [entry, fresh] = known.try_emplace(figures, static_cast<int>(first_part.size()));
      if (fresh) first_part.push_back(part);
      class_of.push_back(entry->second);
    }
    subgraph.classes.reserve(tiles_.strips.Distinct().size() * first_part.size());
    for (const Strip& strip : tiles_.strips.Distinct()) {
      for (const size_t part : first_part) {
        if (!Continues()) return;
        subgraph.classes.push_back(ClassOf(part, strip));
      }
    }
    subgraph.class_of.reserve(tiles_.strips.Like().size() * tiles_.Count());
    for (const size_t strip : tiles_.strips.Like()) {
      for (const int by_rows : class_of)
        subgraph.class_of.push_back(static_cast<int>(strip * first_part.size()) + by_rows);
    }
    for (const int tiles : subgraph.class_of) ++subgraph.classes[static_cast<size_t>(tiles)].count;
  }

 private:
  // Called for each class or tile. Returns false after the stop.
  bool Continues() { return work_.Continues(static_cast<int64_t>(slots_.size())); }

  // All numbers that distinguish classes of one strip.
  void FindFigures(size_t part, std::vector<int64_t>& figures) const {
    figures.assign(1, static_cast<int64_t>(tiles_.lack_of[part]));
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      const RowTiles::Use& tile = tiles_.Of(part, slot);
      for (const size_t axis : slots_[slot].along) {
        figures.push_back(tile.wanted ? tiles_.Wanted(part, slot)[axis].Length() : 0);
        figures.push_back(tile.made ? tiles_.Made(part, slot)[axis].Length() : 0);
      }
      for (const bool is : {tile.wanted, tile.made, tile.leaves}) figures.push_back(is ? 1 : 0);
      figures.insert(figures.end(), {tile.share, tile.kept, KeepsAfter(part, slot)});
    }
  }

  int64_t KeepsAfter(size_t part, size_t slot) const {
    return part + 1 < tiles_.Count() ? tiles_.Of(part + 1, slot).kept : 0;
  }

  TileClass ClassOf(size_t part, const Strip& strip) const {
    TileClass tiles;
    tiles.needed.Reserve(slots_.size(), propagation_.Size());
    tiles.made.Reserve(slots_.size(), propagation_.Size());
    tiles.share.Reserve(slots_.size(), strip.shares.size());
    for (auto* rows : {&tiles.kept, &tiles.keeps}) rows->reserve(slots_.size());
    size_t share = 0;
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      const RowTiles::Use& tile = tiles_.Of(part, slot);
      AddLengths(tile.wanted, tiles_.Wanted(part, slot), part, slot, strip, tiles.needed);
      AddLengths(tile.made, tiles_.Made(part, slot), part, slot, strip, tiles.made);
      tiles.kept.push_back(tile.kept);
      tiles.keeps.push_back(KeepsAfter(part, slot));
      for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size() && slots_[slot].leaves;
           ++axis) {
        const int64_t across = tile.leaves ? strip.shares[share] : 0;
        tiles.share.AddAxis(axis == slots_[slot].rows ? tile.share : across);
        ++share;
      }
      tiles.share.EndTensor();
    }
    AddMacs(tiles_.structure->TheGraph(), tiles_.structure->TheInterval(), propagation_, tiles);
    return tiles;
  }

  void AddLengths(bool any, std::span<const ops::Extent> region, size_t part, size_t slot,
                  const Strip& strip, ExtentsList& list) const {
    const size_t begin = propagation_.Begin(slot);
    const std::vector<ops::Extent>& across = strip.regions[tiles_.lack_of[part]];
    auto along = slots_[slot].along.begin();
    for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size(); ++axis) {
      const bool is_along = along != slots_[slot].along.end() && *along == axis;
      if (is_along) ++along;
      const ops::Extent& extent = is_along ? region[axis] : across[begin + axis];
      list.AddAxis(any ? extent.Length() : 0);
    }
    list.EndTensor();
  }

  const RowTiles& tiles_;
  base::PolledWork& work_;
  const Propagation& propagation_;
  const std::vector<RowStructure::Slot>& slots_;
};

}  // namespace

void AddRowClasses(const RowTiles& tiles, TiledSubgraph& subgraph, base::PolledWork& work) {
  RowClasses(tiles, work).AddTo(subgraph);
}

}  // namespace tessera::graph::tiling

#include "tessera/graph/region.h"
#include "tessera/graph/row_classes.h"

#include <map>
#include <span>
#include <vector>

namespace tessera::graph {
namespace {

class RowClasses {
 public:
  explicit RowClasses(const RowTiles& tiles)
      : tiles_(tiles), propagation_(tiles.structure->ThePropagation()), slots_(tiles.structure->Slots()) {}

  void AddTo(TiledSubgraph& subgraph) const {
    std::map<std::vector<int64_t>, int> known;
    std::vector<int> class_of;       // of the tiles of one strip
    std::vector<size_t> first_part;  // by class
    std::vector<int64_t> figures;
    for (size_t part = 0; part < tiles_.Count(); ++part) {
      FindFigures(part, figures);
      const auto [entry, fresh] = known.try_emplace(figures, static_cast<int>(first_part.size()));
      if (fresh) first_part.push_back(part);
      class_of.push_back(entry->second);
    }
    subgraph.classes.reserve(tiles_.strips.Distinct().size() * first_part.size());
    for (const Strip& strip : tiles_.strips.Distinct()) {
      for (const size_t part : first_part) subgraph.classes.push_back(ClassOf(part, strip));
    }
    subgraph.class_of.reserve(tiles_.strips.Like().size() * tiles_.Count());
    for (const size_t strip : tiles_.strips.Like()) {
      for (const int by_rows : class_of)
        subgraph.class_of.push_back(static_cast<int>(strip * first_part.size()) + by_rows);
    }
    for (const int tiles : subgraph.class_of) ++subgraph.classes[static_cast<size_t>(tiles)].count;
  }

 private:
  // All that tells classes of one strip apart.
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
      for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size() && slots_[slot].leaves; ++axis) {
        const int64_t beside = tile.leaves ? strip.shares[share] : 0;
        tiles.share.AddAxis(axis == slots_[slot].rows ? tile.share : beside);
        ++share;
      }
      tiles.share.EndTensor();
    }
    AddMacs(tiles);
    return tiles;
  }

  void AddLengths(bool any, std::span<const Extent> region, size_t part, size_t slot, const Strip& strip,
                  ExtentsList& list) const {
    const size_t begin = propagation_.Begin(slot);
    const std::vector<Extent>& beside = strip.regions[tiles_.lack_of[part]];
    auto along = slots_[slot].along.begin();
    for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size(); ++axis) {
      const bool is_along = along != slots_[slot].along.end() && *along == axis;
      if (is_along) ++along;
      const Extent& extent = is_along ? region[axis] : beside[begin + axis];
      list.AddAxis(any ? extent.Length() : 0);
    }
    list.EndTensor();
  }

  void AddMacs(TileClass& tiles) const {
    const Interval interval = tiles_.structure->TheInterval();
    tiles.macs.reserve(static_cast<size_t>(interval.last - interval.first) + 1);
    Box made;
    for (int i = interval.first; i <= interval.last; ++i) {
      const Operator& op = tiles_.structure->TheGraph().operators[static_cast<size_t>(i)];
      made.clear();
      for (const int64_t extent : tiles.made[propagation_.SlotOf(op.outputs.front())])
        made.push_back({0, extent});
      tiles.macs.push_back(MacsOf(tiles_.structure->TheGraph(), op, made));
    }
  }

  const RowTiles& tiles_;
  const Propagation& propagation_;
  const std::vector<RowStructure::Slot>& slots_;
};

}  // namespace

void AddRowClasses(const RowTiles& tiles, TiledSubgraph& subgraph) { RowClasses(tiles).AddTo(subgraph); }

}  // namespace tessera::graph

#include "tessera/graph/row_strips.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace tessera::graph {
namespace {

std::vector<int64_t> FiguresOf(const Strip& strip) {
  std::vector<int64_t> figures = strip.shares;
  for (const std::vector<Extent>& regions : strip.regions) {
    for (size_t i = 0; i < regions.size(); ++i) {
      figures.push_back(regions[i].Length());
      if (strip.regions.size() > 1) figures.push_back(regions[i].begin - strip.regions.front()[i].begin);
    }
  }
  return figures;
}

}  // namespace

std::vector<Extent> PartsOf(const Shape& output, const TileShape& tile, std::optional<size_t> axis) {
  if (!axis) return {{0, 1}};
  std::vector<Extent> parts;
  for (int64_t begin = 0; begin < output[*axis]; begin += tile[*axis])
    parts.push_back({begin, std::min(begin + tile[*axis], output[*axis])});
  return parts;
}

std::vector<Extent> RowStrips::RegionsOf(const Box& strip, const Lack& lack) const {
  const Propagation& propagation = structure_->ThePropagation();
  const std::vector<RowStructure::Slot>& slots = structure_->Slots();
  std::vector<Extent> regions(propagation.Size());
  if (lack.empty()) {
    propagation.Run(strip, regions);
    return regions;
  }
  const auto lacks = [&lack](size_t what) { return std::binary_search(lack.begin(), lack.end(), what); };
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
    if (!lacks(ask)) Propagation::Apply(*asks[ask], region(asks[ask]->output), region(asks[ask]->input));
  }
  return regions;
}

void RowStrips::Find(const std::vector<Lack>& lacks) {
  const Propagation& propagation = structure_->ThePropagation();
  const std::vector<RowStructure::Slot>& slots = structure_->Slots();
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  distinct_.clear();
  like_.clear();
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  std::map<std::vector<int64_t>, size_t> known;
  Box box = WholeBox(output);
  for (const Extent& images : PartsOf(output, *tile_, batch)) {
    for (const Extent& part : PartsOf(output, *tile_, columns)) {
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

}  // namespace tessera::graph

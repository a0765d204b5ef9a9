#include "tessera/plan/lowering/whole_tensors.h"

#include <algorithm>
#include <map>

#include "tessera/base/checked.h"

namespace tessera::plan::lowering {

using base::Axis;

void WholeTensors::ForEachByte(int tensor, bool pads, const Visit& visit) const {
  const bool constant = plan_.network.tensors[static_cast<size_t>(tensor)].constant;
  if (places_.IsWhole(tensor)) {
    WalkBuffer(constant ? places_.OfConstantWhole(tensor, {}, false) : places_.OfWhole(tensor, {}), pads,
               visit);
    if (constant && places_.HasTable(tensor))
      WalkBuffer(places_.OfConstantWhole(tensor, {}, true), pads, visit);
    return;
  }
  for (const Home& home : plan_.homes) {
    for (size_t i = 0; i < home.tensors.size(); ++i) {
      if (home.tensors[i] == tensor) WalkHome(home, home.allocation.offsets[i], tensor, visit);
    }
  }
}

void WholeTensors::PutElement(int memory, int64_t address, int content, int64_t number,
                              const Visit& visit) const {
  const int64_t bytes = contents_.CellsPerElement(content);
  for (int64_t part = 0; part < bytes; ++part)
    visit({memory, address + part, execute::Contents::TagOf(content, number * bytes + part)});
}

// Batch by batch, in it row by row, in it column by column, in it channel by channel; a constant element by element, and then its
// table.
void WholeTensors::WalkHome(const Home& home, int64_t address, int tensor, const Visit& visit) const {
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
  const size_t rank = facts.shape.size();
  const int64_t bytes = contents_.CellsPerElement(tensor);
  if (facts.constant || !execute::MeaningOf(rank, 0)) {
    const int64_t elements = graph::ElementsOf(facts.shape);
    for (int64_t i = 0; i < elements; ++i) PutElement(home.memory, address + i * bytes, tensor, i, visit);
    const int64_t table = facts.constant ? contents_.ShapeOf(contents_.TablesOf(tensor)).front() : 0;
    for (int64_t i = 0; i < table; ++i)
      PutElement(home.memory, address + elements * bytes + i, contents_.TablesOf(tensor), i, visit);
    return;
  }
  std::map<Axis, int64_t> extent = {
      {Axis::kBatch, 1}, {Axis::kRows, 1}, {Axis::kColumns, 1}, {Axis::kChannels, 1}};
  std::map<Axis, int64_t> step;  // row-major
  for (size_t axis = rank; axis-- > 0;) {
    const Axis meaning = *execute::MeaningOf(rank, axis);
    extent[meaning] = facts.shape[axis];
    step[meaning] = 1;
    for (size_t inner = axis + 1; inner < rank; ++inner) step[meaning] *= facts.shape[inner];
  }
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, places_.RoleOf(tensor));
  const int64_t blocks = base::CeilDiv(extent[Axis::kChannels], layout.channel_block);
  const int64_t column = blocks * layout.channel_block * bytes;
  for (int64_t b = 0; b < extent[Axis::kBatch]; ++b) {
    for (int64_t r = 0; r < extent[Axis::kRows]; ++r) {
      for (int64_t c = 0; c < extent[Axis::kColumns]; ++c) {
        const int64_t before = b * step[Axis::kBatch] + r * step[Axis::kRows] + c * step[Axis::kColumns];
        for (int64_t ch = 0; ch < extent[Axis::kChannels]; ++ch)
          PutElement(home.memory, address + c * column + ch * bytes, tensor,
                     before + ch * step[Axis::kChannels], visit);
      }
      address += base::RoundUp(extent[Axis::kColumns] * column, layout.row_pitch_bytes);
    }
  }
}

void WholeTensors::WalkBuffer(const execute::Place& place, bool pads, const Visit& visit) const {
  const execute::Box box = execute::WholeBox(contents_.ShapeOf(place.content));
  const int64_t bytes = place.element_cells;
  for (const execute::Run& run : RunsOf(place, pads ? WithPads(place, box) : AllOf(box))) {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t address = run.address + i * run.address_step;
      if (!run.pad) {
        PutElement(plan_.profile.tile_memory, address, place.content, run.number + i * run.number_step,
                   visit);
        continue;
      }
      for (int64_t part = 0; part < bytes; ++part)
        visit({plan_.profile.tile_memory, address + part,
               execute::Contents::TagOf(contents_.PaddingOf(place.content), 0)});
    }
  }
}

}  // namespace tessera::plan::lowering

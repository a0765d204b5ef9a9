// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/execute/places.h"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/engines.h"

// The residency of a tensor follows from the plan's buffers. If a buffer is missing, the place is
// the tensor's home. The execution then finds that the access is not allowed, or that nothing was
// written there.
//
// Streamed operands lie in slots. If transfers overlap compute, two slots alternate:
//
//     slot 0 | slice 0, slice 2, ..          |   a feature is laid out like a tile of that
//     slot 1 | slice 1, slice 3, ..  | table |   extent, a constant in row-major order; the table
//     sums   | of all slices so far  |           follows where a slice ends, if it is full
namespace tessera::plan::execute {

Places::Places(const Plan& plan, const Contents& contents, const std::vector<verify::Users>& users)
    : plan_(plan), contents_(contents), users_(users) {
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    buffers_.emplace(plan.buffers[i], static_cast<int>(i));
}

void Places::EnterSubgraph(const verify::SubgraphResidency& here,
                           const verify::TileMaxima& largest) {
  here_ = &here;
  largest_ = &largest;
}

int Places::BufferOf(const BufferUse& use) const {
  const auto found = buffers_.find(use);
  return found == buffers_.end() ? -1 : found->second;
}

graph::Interval Places::Current() const {
  return here_ == nullptr ? graph::Interval{-1, -1} : here_->Current().interval;
}

base::TensorRole Places::RoleOf(int tensor) const {
  const auto index = static_cast<size_t>(tensor);
  return verify::RoleOf(plan_.network.tensors[index], users_[index], Current());
}

Place Places::InBuffer(int buffer, int content, const Intent& intent) const {
  const problem::Buffer& facts = plan_.problem.buffers[static_cast<size_t>(buffer)];
  const int64_t offset = plan_.allocation.offsets[static_cast<size_t>(buffer)];
  Place place;
  place.where = Where::kTileMemory;
  place.content = content;
  place.buffer = facts.id;
  place.cells = {offset * contents_.CellsPerByte(),
                 (offset + facts.size) * contents_.CellsPerByte()};
  place.base = place.cells.begin;
  place.element_cells = contents_.CellsPerElement(content);
  for (const int64_t step : intent.steps) {
    if (!place.refusal.empty() || LivesAt(facts, step)) continue;
    place.refusal = fmt::format("in buffer '{}', which does not live at step {}", facts.id, step);
  }
  return place;
}

Place Places::OfWhole(int tensor, const Intent& intent) const {
  const int buffer = BufferOf(Whole(tensor));
  if (buffer < 0) return AtHome(tensor, intent);
  Place place = InBuffer(buffer, tensor, intent);
  const auto index = static_cast<size_t>(tensor);
  const graph::Shape& shape = contents_.ShapeOf(tensor);
  const graph::Interval everything = {0, static_cast<int>(plan_.network.operators.size()) - 1};
  LayOut(place, verify::RoleAtHome(plan_.network.tensors[index]), shape, WholeOf(shape),
         verify::PadsOf(plan_, users_[index], everything));
  place.padded_around =
      std::any_of(place.axes.begin(), place.axes.end(),
                  [](const AxisPlace& axis) { return axis.pad_low + axis.pad_high > 0; });
  return place;
}

Place Places::AtHome(int content, const Intent& intent) const {
  const auto tensors = static_cast<int>(plan_.network.tensors.size());
  const int tensor = content < tensors ? content : content - tensors;
  Place place;
  place.content = content;
  place.element_cells = contents_.CellsPerElement(content);
  LayOutInOrder(place, WholeOf(contents_.ShapeOf(content)));
  if (HomeOf(tensor) == plan_.profile.tile_memory) return place;
  place.where = Where::kHome;
  place.refusal =
      RefusalAtHome(plan_.profile, RoleOf(tensor), HomeOf(tensor), intent.by, intent.kind);
  return place;
}

Intent::By ByOf(const Plan& plan, int op) {
  const bool on_host = verify::IsOnHost(plan, plan.network.operators[static_cast<size_t>(op)]);
  return on_host ? Intent::By::kHost : Intent::By::kEngine;
}

std::string RefusalAtHome(const hw_profiles::Profile& profile, base::TensorRole role, int home,
                          Intent::By by, problem::AccessKind kind) {
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(home)];
  const bool reads = kind == problem::AccessKind::kRead;
  const std::string_view access = reads ? "reads" : "writes";
  if (by == Intent::By::kEngine && !(reads ? memory.direct_read : memory.direct_write))
    return fmt::format("in memory '{}', which no engine {}", memory.name, access);
  if (by == Intent::By::kEngine && hw_profiles::LayoutOf(profile, role).tiles_only) {
    return fmt::format("in memory '{}', where no engine {} tensors of its role", memory.name,
                       access);
  }
  if (!reads && !memory.writable)
    return fmt::format("in memory '{}', which cannot be written", memory.name);
  if (by == Intent::By::kLink &&
      hw_profiles::LinkBetween(profile, home, profile.tile_memory) == nullptr) {
    return fmt::format("in memory '{}', to which no link leads", memory.name);
  }
  return "";
}

Place Places::OfConstantWhole(int constant, const Intent& intent, bool table) const {
  if (IsWhole(constant)) return OfConstant(Whole(constant), constant, intent, table);
  return AtHome(table ? contents_.TablesOf(constant) : constant, intent);
}

// The whole constant in row-major order, followed by its table.
Place Places::OfConstant(const BufferUse& use, int constant, const Intent& intent,
                         bool table) const {
  const int content = table ? contents_.TablesOf(constant) : constant;
  Place place = InBuffer(BufferOf(use), content, intent);
  LayOutInOrder(place, WholeOf(contents_.ShapeOf(content)));
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(constant)];
  if (table)
    place.base +=
        base::BytesOf(facts.type, graph::ElementsOf(facts.shape)) * contents_.CellsPerByte();
  return place;
}

Place Places::InSlot(const BufferUse& slot, int content, const Intent& intent) const {
  const int buffer = BufferOf(slot);
  if (buffer >= 0) return InBuffer(buffer, content, intent);
  Place place;
  place.content = content;
  return place;
}

Place Places::OfSlice(const verify::SubgraphResidency& user, int op, int tensor,
                      const RunIndex& run, const Box& held, const Intent& intent) const {
  Place place = InSlot(user.SliceOf(op, tensor, run.phase, run.slot), tensor, intent);
  if (plan_.network.tensors[static_cast<size_t>(tensor)].constant) {
    LayOutInOrder(place, held);
    return place;
  }
  const verify::KSlices& slices = *user.SlicesOfK();
  std::vector<int64_t> extents = LargestOf(tensor, held);
  int64_t& k_extent = extents[slices.along.at(tensor)];
  k_extent = std::min(k_extent, slices.granularity);
  LayOut(place, RoleOf(tensor), extents, held, PadsOf(tensor));
  return place;
}

Place Places::OfSliceTable(const verify::SubgraphResidency& user, int op, int constant,
                           const RunIndex& run, const Range& bytes, const Intent& intent) const {
  Place place =
      InSlot(user.SliceOf(op, constant, run.phase, run.slot), contents_.TablesOf(constant), intent);
  LayOutInOrder(place, {bytes});
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(constant)];
  const verify::Slicing slicing = verify::SlicingOf(plan_, user.At(op), constant);
  int64_t full = base::BytesOf(
      facts.type, graph::ElementsOf(facts.shape) / slicing.channels * slicing.granularity);
  if (const auto& slices = user.SlicesOfK()) {
    const auto most = largest_->Extents().find(user.At(op).outputs.front());
    full = verify::KSliceBytes(plan_, *slices, slices->granularity,
                               most->second[slices->result_channels]);
  }
  place.base += full * contents_.CellsPerByte();
  return place;
}

Place Places::OfPartialSums(int op, int phase, const Box& held, const Intent& intent) const {
  const int content = contents_.PartialSumsOf(op);
  const int buffer = BufferOf(here_->AccumulatorOf(op, phase));
  Place place;
  place.content = content;
  if (buffer >= 0) place = InBuffer(buffer, content, intent);
  LayOutInOrder(place, held);
  return place;
}

std::optional<Place> Places::OfScratch(int op, int phase, const Intent& intent) const {
  const int buffer = BufferOf(here_->ScratchOf(op, phase));
  if (buffer < 0) return std::nullopt;
  Place place = InBuffer(buffer, contents_.ScratchOf(op), intent);
  place.element_cells = 1;
  return place;
}

}  // namespace tessera::plan::execute

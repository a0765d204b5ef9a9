#include "tessera/plan/execute/places.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"

// docs/program.md, "Inside a buffer": batch by batch, row by row, in each row column by column, in
// each column channel by channel, with the pitches of the largest tile. A tile of any size begins
// at the buffer's first byte, behind the pads:
//
//     pads above                       .------------.
//                                      | . . . . .  |
//     pad  [0, c0] [0, c1] pad pad     | . a b c .  |   row pitch
//     pad  [1, c0] [1, c1] pad pad     | . d e f .  |
//     pads below                       '------------'
//
// Constants, and tensors whose axes have no names, are in row-major order without gaps; a
// constant's table follows it.
namespace tessera::plan::execute {
namespace {

using base::Axis;

bool HasWindow(base::OperatorKind kind) {
  return kind == base::OperatorKind::kConv || kind == base::OperatorKind::kDepthwise ||
         kind == base::OperatorKind::kPool;
}

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

Places::Places(const Plan& plan, const Contents& contents, const std::vector<Users>& users)
    : plan_(plan), contents_(contents), users_(users) {
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    buffers_.emplace(KeyOf(plan.buffers[i]), static_cast<int>(i));
}

void Places::EnterSubgraph(int subgraph, std::map<int, LargestPart> largest) {
  subgraph_ = subgraph;
  largest_ = std::move(largest);
}

int Places::BufferOf(const BufferUse& use) const {
  const auto found = buffers_.find(KeyOf(use));
  return found == buffers_.end() ? -1 : found->second;
}

bool Places::IsHeldInTiles(int tensor) const {
  return BufferOf(Tile(tensor, 0)) >= 0 || BufferOf(Tile(tensor, 1)) >= 0 ||
         IsRollingBuffer(tensor);
}

bool Places::HasHalo(int tensor) const {
  return BufferOf(Halo(tensor, 0)) >= 0 || BufferOf(Halo(tensor, 1)) >= 0;
}

bool Places::IsStreamed(int op, int tensor) const {
  return BufferOf({BufferKind::kSlice, subgraph_, tensor, op, 0, 0}) >= 0 ||
         BufferOf({BufferKind::kSlice, subgraph_, tensor, op, 1, 0}) >= 0;
}

base::TensorRole Places::RoleOf(int tensor) const {
  using base::TensorRole;
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
  if (facts.constant) return TensorRole::kConstant;
  if (facts.state || facts.next_of >= 0) return TensorRole::kState;
  if (facts.network_input) return TensorRole::kNetworkInput;
  if (facts.network_output) return TensorRole::kNetworkOutput;
  if (subgraph_ < 0) return TensorRole::kBoundary;
  const graph::Interval interval = plan_.subgraphs[static_cast<size_t>(subgraph_)].interval;
  const Users& users = users_[static_cast<size_t>(tensor)];
  const bool stays =
      users.MadeIn(interval) && (users.readers.empty() || users.readers.back() <= interval.last);
  return stays ? TensorRole::kFeature : TensorRole::kBoundary;
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
  const graph::Shape& shape = contents_.ShapeOf(tensor);
  const base::TensorRole role =
      RoleOf(tensor) == base::TensorRole::kFeature ? base::TensorRole::kBoundary : RoleOf(tensor);
  LayOut(place, role, shape, WholeOf(shape),
         PadsOf(tensor, {0, static_cast<int>(plan_.network.operators.size()) - 1}));
  place.bordered = std::any_of(place.axes.begin(), place.axes.end(), [](const AxisPlace& axis) {
    return axis.pad_low + axis.pad_high > 0;
  });
  return place;
}

Place Places::AtHome(int content, const Intent& intent) const {
  const auto tensors = static_cast<int>(plan_.network.tensors.size());
  const int tensor = content < tensors ? content : content - tensors;
  Place place;
  place.content = content;
  place.element_cells = contents_.CellsPerElement(content);
  LayOutInOrder(place, WholeOf(contents_.ShapeOf(content)));
  const bool kept = std::find(plan_.kept.begin(), plan_.kept.end(), tensor) != plan_.kept.end();
  if (kept || HomeOf(tensor) == plan_.profile.tile_memory) return place;
  place.where = Where::kHome;
  place.refusal = RefusalAtHome(tensor, intent);
  return place;
}

int Places::HomeOf(int tensor) const {
  return hw_profiles::HomeAt(hw_profiles::LayoutOf(plan_.profile, RoleOf(tensor)),
                             plan_.network.tensors[static_cast<size_t>(tensor)].home);
}

std::string Places::RefusalAtHome(int tensor, const Intent& intent) const {
  const int home = HomeOf(tensor);
  const hw_profiles::Memory& memory = plan_.profile.memories[static_cast<size_t>(home)];
  const bool reads = intent.kind == problem::AccessKind::kRead;
  if (intent.by == Intent::By::kEngine && !(reads ? memory.direct_read : memory.direct_write)) {
    return fmt::format("in memory '{}', which no engine {}", memory.name,
                       reads ? "reads" : "writes");
  }
  if (!reads && !memory.writable)
    return fmt::format("in memory '{}', which cannot be written", memory.name);
  if (intent.by == Intent::By::kLink &&
      hw_profiles::LinkBetween(plan_.profile, home, plan_.profile.tile_memory) == nullptr) {
    return fmt::format("in memory '{}', to which no link leads", memory.name);
  }
  return "";
}

bool Places::IsPrefetched(int constant) const {
  const auto next = static_cast<size_t>(subgraph_) + 1;
  return next < plan_.subgraphs.size() && plan_.subgraphs[next].prefetch &&
         BufferOf(NextResident(constant)) >= 0;
}

Place Places::OfConstantWhole(int constant, const Intent& intent, bool table) const {
  const int buffer = BufferOf(Whole(constant));
  if (buffer < 0) return AtHome(table ? contents_.TablesOf(constant) : constant, intent);
  return OfConstant(buffer, constant, intent, table);
}

Place Places::OfResident(int constant, const Intent& intent, bool table) const {
  return OfConstant(BufferOf(Resident(constant)), constant, intent, table);
}

Place Places::OfPrefetched(int constant, const Intent& intent, bool table) const {
  return OfConstant(BufferOf(NextResident(constant)), constant, intent, table);
}

// All of it, in order; the table behind it.
Place Places::OfConstant(int buffer, int constant, const Intent& intent, bool table) const {
  const int content = table ? contents_.TablesOf(constant) : constant;
  Place place = InBuffer(buffer, content, intent);
  LayOutInOrder(place, WholeOf(contents_.ShapeOf(content)));
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(constant)];
  if (table)
    place.base +=
        base::BytesOf(facts.type, graph::ElementsOf(facts.shape)) * contents_.CellsPerByte();
  return place;
}

Place Places::OfSlice(int op, int constant, int phase, int slot, const Slice& slice,
                      const Intent& intent, bool table) const {
  const int content = table ? contents_.TablesOf(constant) : constant;
  const int buffer = BufferOf({BufferKind::kSlice, subgraph_, constant, op, phase, slot});
  Place place;
  place.content = content;
  if (buffer >= 0) place = InBuffer(buffer, content, intent);
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(constant)];
  const int64_t channels = facts.shape[slice.axis];
  if (!table) {
    Box held = WholeOf(facts.shape);
    held[slice.axis] = slice.indices;
    LayOutInOrder(place, held);
    return place;
  }
  const int64_t each =
      contents_.TableBytes(plan_.network.operators[static_cast<size_t>(op)]) / channels;
  LayOutInOrder(place, {{slice.indices.begin * each, slice.indices.end * each}});
  const int64_t elements = graph::ElementsOf(facts.shape) / channels * slice.granularity;
  place.base += base::BytesOf(facts.type, elements) * contents_.CellsPerByte();
  return place;
}

int64_t Places::TableBytesIn(int constant, graph::Interval interval) const {
  int64_t bytes = 0;
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(i)];
    if (!op.weights.empty() && op.weights.front() == constant)
      bytes = std::max(bytes, contents_.TableBytes(op));
  }
  return bytes;
}

std::optional<Place> Places::OfScratch(int op, int phase, const Intent& intent) const {
  const int buffer = BufferOf({BufferKind::kScratch, subgraph_, -1, op, phase, 0});
  if (buffer < 0) return std::nullopt;
  Place place = InBuffer(buffer, contents_.ScratchOf(op), intent);
  place.element_cells = 1;
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
                    const Box& held, const Pads& pads) const {
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(place.content)];
  const size_t rank = extents.size();
  if (!MeaningOf(rank, 0)) {
    LayOutInOrder(place, held);
    return;
  }
  NumberAxes(place, facts.shape);
  std::map<Axis, int64_t> extent = {
      {Axis::kBatch, 1}, {Axis::kChannels, 1}, {Axis::kRows, 1}, {Axis::kColumns, 1}};
  for (size_t axis = 0; axis < rank; ++axis) {
    place.axes[axis].held = held[axis];
    extent[*MeaningOf(rank, axis)] = extents[axis];
  }
  for (size_t spatial = 0; rank == 4 && spatial < 2; ++spatial) {
    place.axes[spatial + 2].pad_low = pads.low[spatial];
    place.axes[spatial + 2].pad_high = pads.high[spatial];
  }
  std::map<Axis, int64_t> low;
  for (size_t axis = 0; axis < rank; ++axis) {
    const Axis meaning = *MeaningOf(rank, axis);
    low[meaning] = place.axes[axis].pad_low;
    extent[meaning] += place.axes[axis].pad_low + place.axes[axis].pad_high;
  }
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, role);
  const int64_t channels = base::RoundUp(extent[Axis::kChannels], layout.channel_block);
  const int64_t row = base::RoundUp(base::BytesOf(facts.type, extent[Axis::kColumns] * channels),
                                    layout.row_pitch_bytes);
  std::map<Axis, int64_t> step;
  step[Axis::kChannels] = place.element_cells;
  step[Axis::kColumns] = channels * place.element_cells;
  step[Axis::kRows] = row * contents_.CellsPerByte();
  step[Axis::kBatch] = extent[Axis::kRows] * step[Axis::kRows];
  for (size_t axis = 0; axis < rank; ++axis)
    place.axes[axis].address_step = step[*MeaningOf(rank, axis)];
  place.base += low[Axis::kRows] * step[Axis::kRows] + low[Axis::kColumns] * step[Axis::kColumns];
}

// The most that any windowed reader in `readers` asks for, on either side.
Places::Pads Places::PadsOf(int tensor, graph::Interval readers) const {
  Pads pads;
  if (plan_.profile.tiling.implicit_padding || contents_.ShapeOf(tensor).size() != 4) return pads;
  for (const int reader : users_[static_cast<size_t>(tensor)].readers) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(reader)];
    if (reader < readers.first || reader > readers.last || !HasWindow(op.kind)) continue;
    for (size_t spatial = 0; spatial < 2; ++spatial) {
      pads.low[spatial] = std::max(pads.low[spatial], op.window.pad_low[spatial]);
      pads.high[spatial] = std::max(pads.high[spatial], op.window.pad_high[spatial]);
    }
  }
  return pads;
}

}  // namespace tessera::plan::execute

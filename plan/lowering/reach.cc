#include "tessera/plan/lowering/reach.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/checked.h"
#include "tessera/plan/lowering/dependencies.h"
#include "tessera/plan/lowering/footprint.h"

namespace tessera::plan::lowering {
namespace {

constexpr int64_t kMostPads = int64_t{1} << 20;

bool HasPads(const FixedRegion& region) { return !region.pad_low.empty() && !region.pad_high.empty(); }

}  // namespace

execute::Box Reach::Box() const {
  execute::Box range;
  for (size_t axis = 0; axis < box.begin.size(); ++axis)
    range.push_back({box.begin[axis], box.begin[axis] + box.extent[axis]});
  return range;
}

Point Reach::At(size_t axis, int64_t index) const {
  const bool below = index >= shape[axis];
  const bool beside = !operand->bordered && (index < 0 || below);
  int64_t position = index - box.begin[axis];
  if (beside) position = below ? box.extent[axis] + index - shape[axis] : index;
  const int64_t ring = operand->ring_rows;
  if (ring > 0 && execute::RowAxisOf(shape.size()) == axis) {
    const int64_t turned = region.turn + position;
    position = index < 0 ? index
               : below   ? ring + index - shape[axis]
                         : turned - base::RoundDown(turned, ring);
  }
  int64_t step = 1;
  for (size_t inner = axis + 1; inner < shape.size(); ++inner) step *= shape[inner];
  return {position * operand->strides[axis], index * step, index < 0 || below};
}

Walk Reach::Elements() const {
  Walk walk(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (int64_t i = 0; i < box.extent[axis]; ++i) walk[axis].push_back(At(axis, box.begin[axis] + i));
  }
  return walk;
}

Walk Reach::ElementsAndPads() const {
  Walk walk = Elements();
  if (!HasPads(region)) return walk;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (int64_t pad = 1; pad <= region.pad_low[axis]; ++pad) walk[axis].push_back(At(axis, -pad));
    for (int64_t pad = 0; pad < region.pad_high[axis]; ++pad)
      walk[axis].push_back(At(axis, shape[axis] + pad));
  }
  return walk;
}

Walk Reach::Of(const std::vector<std::vector<int64_t>>& axes) const {
  Walk walk(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (const int64_t index : axes[axis]) walk[axis].push_back(At(axis, index));
  }
  return walk;
}

Walk Reach::Nearby(Walk walk) const {
  std::vector<size_t> outermost(walk.size());
  for (size_t axis = 0; axis < walk.size(); ++axis) outermost[axis] = axis;
  std::stable_sort(outermost.begin(), outermost.end(),
                   [&](size_t a, size_t b) { return operand->strides[a] > operand->strides[b]; });
  Walk sorted;
  for (const size_t axis : outermost) sorted.push_back(std::move(walk[axis]));
  return sorted;
}

std::string Opener::Open(const Job& job, const Run& run, size_t region, int parity, Reach& reach) const {
  reach.region = run.regions[region];
  reach.operand = &job.operands[reach.region.operand];
  reach.box = reach.operand->part == Part::kTo ? run.regions[region - 1] : reach.region;
  reach.element_bytes = ElementBytes(plan_.network, job.op, *reach.operand);
  const int tensor = reach.operand->tensor;
  const bool table = reach.operand->table;
  const bool sums = reach.operand->part == Part::kAddend || reach.operand->part == Part::kSums;
  if (sums && job.does != Does::kCompute) return "moves sums";
  reach.content = sums         ? contents_.SumsOf(job.op)
                  : tensor < 0 ? contents_.ScratchOf(job.op)
                  : table      ? contents_.TablesOf(tensor)
                               : tensor;
  reach.shape = tensor < 0 ? graph::Shape{reach.box.extent[0]} : contents_.ShapeOf(reach.content);
  const std::string name = contents_.NameOf(reach.content);
  const Spot* spot = FindSpot(*reach.operand, parity, static_cast<int>(run.round % 2));
  if (spot == nullptr) return fmt::format("finds no place for {}", name);
  reach.base = spot->address + reach.region.offset;
  if (!FitsTensor(reach)) return fmt::format("names a box that {} does not have", name);
  const bool at_buffer = spot->buffer.empty() || FindBuffer(*spot, reach);
  if (!at_buffer) return fmt::format("finds no buffer '{}' at address {}", spot->buffer, spot->address);
  return FitsMemory(reach) ? "" : fmt::format("finds {} beyond the memory", name);
}

bool Opener::FitsTensor(const Reach& reach) {
  const FixedRegion& box = reach.box;
  const size_t rank = reach.shape.size();
  if (box.begin.size() != rank || box.extent.size() != rank) return false;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t room = reach.shape[axis] - box.extent[axis];
    if (box.begin[axis] < 0 || box.extent[axis] < 0 || box.begin[axis] > room) return false;
  }
  for (const std::vector<int64_t>* pads : {&reach.region.pad_low, &reach.region.pad_high}) {
    if (!pads->empty() && pads->size() != rank) return false;
    if (std::any_of(pads->begin(), pads->end(), [](int64_t pad) { return pad < 0 || pad > kMostPads; }))
      return false;
  }
  const std::optional<size_t> rows = execute::RowAxisOf(rank);
  return reach.operand->ring_rows == 0 || (rows && box.extent[*rows] <= reach.operand->ring_rows);
}

// A spot in a buffer is where the buffer begins; who reads may reach into a halo before it.
bool Opener::FindBuffer(const Spot& spot, Reach& reach) const {
  const auto& buffers = plan_.problem.buffers;
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const problem::Buffer& buffer) { return buffer.id == spot.buffer; });
  if (found == buffers.end() || reach.operand->memory != plan_.profile.tile_memory) return false;
  const auto index = static_cast<size_t>(found - buffers.begin());
  if (plan_.allocation.offsets[index] != spot.address) return false;
  reach.buffer = {spot.address, spot.address + found->size};
  if (reach.Writes()) return true;
  for (const problem::Relation& relation : plan_.problem.relations) {
    if (relation.kind == problem::RelationKind::kAdjacent && relation.second == static_cast<int>(index))
      reach.buffer.begin = plan_.allocation.offsets[static_cast<size_t>(relation.first)];
  }
  return true;
}

// The farthest addresses on either side; pads that engines make up are at none, nor is what has no elements.
bool Opener::FitsMemory(const Reach& reach) const {
  const bool pads = HasPads(reach.region) && (reach.Writes() || reach.operand->stored_pads);
  const std::optional<size_t> rows = execute::RowAxisOf(reach.shape.size());
  std::optional<int64_t> least = reach.base;
  std::optional<int64_t> most = reach.base;
  for (size_t axis = 0; axis < reach.shape.size() && least && most; ++axis) {
    const bool ring = rows == axis && reach.operand->ring_rows > 0;
    const int64_t length = ring ? reach.operand->ring_rows : reach.box.extent[axis];
    const int64_t low = pads ? reach.region.pad_low[axis] : 0;
    const int64_t high = pads ? reach.region.pad_high[axis] : 0;
    const bool around = reach.operand->bordered;
    const int64_t first = around && low > 0 ? -reach.box.begin[axis] - low : -low;
    const int64_t end = (around && high > 0 ? reach.shape[axis] - reach.box.begin[axis] : length) + high;
    if (first >= end) return true;
    const auto down = base::CheckedMul(first, reach.operand->strides[axis]);
    const auto up = base::CheckedMul(end - 1, reach.operand->strides[axis]);
    least = down ? base::CheckedAdd(*least, *down) : std::nullopt;
    most = up ? base::CheckedAdd(*most, *up) : std::nullopt;
  }
  const int memory = reach.operand->memory;
  return least && most && memories_.Contains(memory, *least) &&
         memories_.Contains(memory, *most + reach.element_bytes - 1);
}

}  // namespace tessera::plan::lowering

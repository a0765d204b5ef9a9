// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/lowering/job_recorder.h"
#include "tessera/plan/lowering/performer.h"

// Resolves a region and its operand to cells of a memory, as the driver of an engine does.
namespace tessera::plan::lowering {

namespace {

constexpr int64_t kMostPads = int64_t{1} << 20;

bool HasPads(const FixedRegion& region) {
  return !region.pad_low.empty() && !region.pad_high.empty();
}

}  // namespace

plan::Box ResolvedRegion::Box() const {
  plan::Box range;
  for (size_t axis = 0; axis < box.begin.size(); ++axis)
    range.push_back({box.begin[axis], box.begin[axis] + box.extent[axis]});
  return range;
}

Point ResolvedRegion::At(size_t axis, int64_t index) const {
  const bool below = index >= shape[axis];
  const bool in_pad = !operand->padded_around && (index < 0 || below);
  int64_t position = index - box.begin[axis];
  if (in_pad) position = below ? box.extent[axis] + index - shape[axis] : index;
  const int64_t rolling_buffer = operand->rolling_buffer_rows;
  if (rolling_buffer > 0 && plan::RowAxisOf(shape.size()) == axis) {
    const int64_t turned = region.turn + position;
    position = index < 0 ? index
               : below   ? rolling_buffer + index - shape[axis]
                         : turned - base::RoundDown(turned, rolling_buffer);
  }
  int64_t step = 1;
  for (size_t inner = axis + 1; inner < shape.size(); ++inner) step *= shape[inner];
  return {position * operand->strides[axis], index * step, index < 0 || below};
}

Walk ResolvedRegion::Elements() const {
  Walk walk(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    walk[axis].reserve(static_cast<size_t>(box.extent[axis]));
    for (int64_t i = 0; i < box.extent[axis]; ++i)
      walk[axis].push_back(At(axis, box.begin[axis] + i));
  }
  return walk;
}

Walk ResolvedRegion::ElementsAndPads() const {
  Walk walk = Elements();
  if (!HasPads(region)) return walk;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (int64_t pad = 1; pad <= region.pad_low[axis]; ++pad) walk[axis].push_back(At(axis, -pad));
    for (int64_t pad = 0; pad < region.pad_high[axis]; ++pad)
      walk[axis].push_back(At(axis, shape[axis] + pad));
  }
  return walk;
}

Walk ResolvedRegion::Of(const std::vector<std::vector<int64_t>>& axes) const {
  Walk walk(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    walk[axis].reserve(axes[axis].size());
    for (const int64_t index : axes[axis]) walk[axis].push_back(At(axis, index));
  }
  return walk;
}

std::vector<size_t> ResolvedRegion::Nesting(const Walk& walk) const {
  constexpr size_t kLongEnough = 8;
  std::vector<size_t> nesting(walk.size());
  for (size_t axis = 0; axis < walk.size(); ++axis) nesting[axis] = axis;
  std::stable_sort(nesting.begin(), nesting.end(),
                   [&](size_t a, size_t b) { return operand->strides[a] > operand->strides[b]; });
  const auto longest = std::max_element(nesting.rbegin(), nesting.rend(), [&](size_t a, size_t b) {
    return walk[a].size() < walk[b].size();
  });
  const bool short_rows = !nesting.empty() && walk[nesting.back()].size() < kLongEnough;
  if (short_rows && walk[*longest].size() >= kLongEnough)
    std::rotate(longest.base() - 1, longest.base(), nesting.end());
  return nesting;
}

Walk Nested(Walk walk, const std::vector<size_t>& nesting) {
  Walk nested;
  for (const size_t axis : nesting) nested.push_back(std::move(walk[axis]));
  return nested;
}

std::vector<Series> SeriesOf(const std::vector<Point>& points) {
  std::vector<Series> series;
  for (const Point& point : points) {
    if (!series.empty() && series.back().first.pad == point.pad) {
      Series& last = series.back();
      const int64_t address_step =
          point.address - last.first.address - (last.count - 1) * last.address_step;
      const int64_t number_step =
          point.number - last.first.number - (last.count - 1) * last.number_step;
      if (last.count == 1 ||
          (last.address_step == address_step && last.number_step == number_step)) {
        last.address_step = address_step;
        last.number_step = number_step;
        ++last.count;
        continue;
      }
    }
    series.push_back({point, 1, 0, 0});
  }
  return series;
}

Opener::Fault Opener::Open(const Job& job, const Run& run, size_t region, int phase,
                           ResolvedRegion& resolved) const {
  resolved.region = run.regions[region];
  resolved.operand = &job.operands[resolved.region.operand];
  resolved.box = resolved.operand->part == Part::kTo ? run.regions[region - 1] : resolved.region;
  const int tensor = resolved.operand->tensor;
  const bool table = resolved.operand->table;
  const bool sums =
      resolved.operand->part == Part::kAddend || resolved.operand->part == Part::kPartialSums;
  if (sums && job.does != Does::kCompute) return {FindingKind::kMalformed, "moves sums"};
  resolved.content = sums         ? contents_.PartialSumsOf(job.op)
                     : tensor < 0 ? contents_.ScratchOf(job.op)
                     : table      ? contents_.TablesOf(tensor)
                                  : tensor;
  resolved.element_cells = tensor < 0 ? 1 : contents_.CellsPerElement(resolved.content);
  resolved.shape =
      tensor < 0 ? graph::Shape{resolved.box.extent[0]} : contents_.ShapeOf(resolved.content);
  const std::string name = contents_.NameOf(resolved.content);
  const Spot* spot =
      FindSpot(*resolved.operand, phase, static_cast<int>(run.round % SlotsOf(*resolved.operand)));
  if (spot == nullptr) return {FindingKind::kMalformed, fmt::format("finds no place for {}", name)};
  resolved.base = spot->address + resolved.region.offset;
  const auto outside = [](std::string text) {
    return Fault{FindingKind::kOutside, std::move(text)};
  };
  if (!FitsTensor(resolved)) return outside(fmt::format("names a box that {} does not have", name));
  const bool at_buffer = spot->buffer.empty() || FindBuffer(*spot, resolved);
  if (!at_buffer)
    return outside(fmt::format("finds no buffer '{}' at address {}", spot->buffer,
                               spot->address / contents_.CellsPerByte()));
  if (!FitsMemory(resolved))
    return outside(fmt::format("finds {} in '{}' outside the memory", name, spot->buffer));
  return {};
}

bool Opener::FitsTensor(const ResolvedRegion& resolved) {
  const FixedRegion& box = resolved.box;
  const size_t rank = resolved.shape.size();
  if (box.begin.size() != rank || box.extent.size() != rank) return false;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t room = resolved.shape[axis] - box.extent[axis];
    if (box.begin[axis] < 0 || box.extent[axis] < 0 || box.begin[axis] > room) return false;
  }
  for (const std::vector<int64_t>* pads : {&resolved.region.pad_low, &resolved.region.pad_high}) {
    if (!pads->empty() && pads->size() != rank) return false;
    if (std::any_of(pads->begin(), pads->end(),
                    [](int64_t pad) { return pad < 0 || pad > kMostPads; }))
      return false;
  }
  const std::optional<size_t> rows = plan::RowAxisOf(rank);
  return resolved.operand->rolling_buffer_rows == 0 ||
         (rows && box.extent[*rows] <= resolved.operand->rolling_buffer_rows);
}

// A spot in a buffer is the beginning of the buffer. A reader may reach into a halo before it.
bool Opener::FindBuffer(const Spot& spot, ResolvedRegion& resolved) const {
  const auto& buffers = plan_.problem.buffers;
  const auto found =
      std::find_if(buffers.begin(), buffers.end(),
                   [&](const problem::Buffer& buffer) { return buffer.id == spot.buffer; });
  if (found == buffers.end() || resolved.operand->memory != plan_.profile.tile_memory) return false;
  const auto index = static_cast<size_t>(found - buffers.begin());
  const int64_t cells = contents_.CellsPerByte();
  if (plan_.allocation.offsets[index] * cells != spot.address) return false;
  resolved.name = found->id;
  resolved.buffer = {spot.address, spot.address + found->size * cells};
  if (resolved.Writes()) return true;
  for (const problem::Relation& relation : plan_.problem.relations) {
    if (relation.kind == problem::RelationKind::kAdjacent &&
        relation.second == static_cast<int>(index))
      resolved.buffer.begin -= buffers[static_cast<size_t>(relation.first)].size * cells;
  }
  return true;
}

// Checks the buffer and the extreme addresses on both sides. Pads that engines generate and empty
// regions have no addresses.
bool Opener::FitsMemory(const ResolvedRegion& resolved) const {
  const int memory = resolved.operand->memory;
  const problem::AddressRange& buffer = resolved.buffer;
  const bool exists =
      memories_.Contains(memory, buffer.begin) && memories_.Contains(memory, buffer.end - 1);
  if (buffer.begin < buffer.end && !exists) return false;
  const bool pads =
      HasPads(resolved.region) && (resolved.Writes() || resolved.operand->stored_pads);
  const std::optional<size_t> rows = plan::RowAxisOf(resolved.shape.size());
  std::optional<int64_t> least = resolved.base;
  std::optional<int64_t> most = resolved.base;
  for (size_t axis = 0; axis < resolved.shape.size() && least && most; ++axis) {
    const bool rolling_buffer = rows == axis && resolved.operand->rolling_buffer_rows > 0;
    const int64_t length =
        rolling_buffer ? resolved.operand->rolling_buffer_rows : resolved.box.extent[axis];
    const int64_t low = pads ? resolved.region.pad_low[axis] : 0;
    const int64_t high = pads ? resolved.region.pad_high[axis] : 0;
    const bool around = resolved.operand->padded_around;
    const int64_t first = around && low > 0 ? -resolved.box.begin[axis] - low : -low;
    const int64_t end =
        (around && high > 0 ? resolved.shape[axis] - resolved.box.begin[axis] : length) + high;
    if (first >= end) return true;
    const auto down = base::CheckedMul(first, resolved.operand->strides[axis]);
    const auto up = base::CheckedMul(end - 1, resolved.operand->strides[axis]);
    least = down ? base::CheckedAdd(*least, *down) : std::nullopt;
    most = up ? base::CheckedAdd(*most, *up) : std::nullopt;
  }
  return least && most && memories_.Contains(memory, *least) &&
         memories_.Contains(memory, *most + resolved.element_cells - 1);
}

}  // namespace tessera::plan::lowering

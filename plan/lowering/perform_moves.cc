#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/lowering/byte_layout.h"
#include "tessera/plan/lowering/job_recorder.h"
#include "tessera/plan/lowering/performer.h"

namespace tessera::plan::lowering {

namespace {

constexpr int64_t kMostPads = int64_t{1} << 20;

bool HasPads(const FixedRegion& region) {
  return !region.pad_low.empty() && !region.pad_high.empty();
}

}  // namespace

execute::Box ResolvedRegion::Box() const {
  execute::Box range;
  for (size_t axis = 0; axis < box.begin.size(); ++axis)
    range.push_back({box.begin[axis], box.begin[axis] + box.extent[axis]});
  return range;
}

Point ResolvedRegion::At(size_t axis, int64_t index) const {
  const bool below = index >= shape[axis];
  const bool beside = !operand->bordered && (index < 0 || below);
  int64_t position = index - box.begin[axis];
  if (beside) position = below ? box.extent[axis] + index - shape[axis] : index;
  const int64_t rolling_buffer = operand->rolling_buffer_rows;
  if (rolling_buffer > 0 && execute::RowAxisOf(shape.size()) == axis) {
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
    for (const int64_t index : axes[axis]) walk[axis].push_back(At(axis, index));
  }
  return walk;
}

Walk ResolvedRegion::Nearby(Walk walk) const {
  std::vector<size_t> outermost(walk.size());
  for (size_t axis = 0; axis < walk.size(); ++axis) outermost[axis] = axis;
  std::stable_sort(outermost.begin(), outermost.end(),
                   [&](size_t a, size_t b) { return operand->strides[a] > operand->strides[b]; });
  Walk sorted;
  for (const size_t axis : outermost) sorted.push_back(std::move(walk[axis]));
  return sorted;
}

std::string Opener::Open(const Job& job, const Run& run, size_t region, int phase,
                         ResolvedRegion& resolved) const {
  resolved.region = run.regions[region];
  resolved.operand = &job.operands[resolved.region.operand];
  resolved.box = resolved.operand->part == Part::kTo ? run.regions[region - 1] : resolved.region;
  resolved.element_bytes = ElementBytes(plan_.network, job.op, *resolved.operand);
  const int tensor = resolved.operand->tensor;
  const bool table = resolved.operand->table;
  const bool sums =
      resolved.operand->part == Part::kAddend || resolved.operand->part == Part::kPartialSums;
  if (sums && job.does != Does::kCompute) return "moves sums";
  resolved.content = sums         ? contents_.PartialSumsOf(job.op)
                     : tensor < 0 ? contents_.ScratchOf(job.op)
                     : table      ? contents_.TablesOf(tensor)
                                  : tensor;
  resolved.shape =
      tensor < 0 ? graph::Shape{resolved.box.extent[0]} : contents_.ShapeOf(resolved.content);
  const std::string name = contents_.NameOf(resolved.content);
  const Spot* spot = FindSpot(*resolved.operand, phase, static_cast<int>(run.round % 2));
  if (spot == nullptr) return fmt::format("finds no place for {}", name);
  resolved.base = spot->address + resolved.region.offset;
  if (!FitsTensor(resolved)) return fmt::format("names a box that {} does not have", name);
  const bool at_buffer = spot->buffer.empty() || FindBuffer(*spot, resolved);
  if (!at_buffer)
    return fmt::format("finds no buffer '{}' at address {}", spot->buffer, spot->address);
  return FitsMemory(resolved) ? "" : fmt::format("finds {} beyond the memory", name);
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
  const std::optional<size_t> rows = execute::RowAxisOf(rank);
  return resolved.operand->rolling_buffer_rows == 0 ||
         (rows && box.extent[*rows] <= resolved.operand->rolling_buffer_rows);
}

// A spot in a buffer is the buffer's begin. A reader may reach into a halo before it.
bool Opener::FindBuffer(const Spot& spot, ResolvedRegion& resolved) const {
  const auto& buffers = plan_.problem.buffers;
  const auto found =
      std::find_if(buffers.begin(), buffers.end(),
                   [&](const problem::Buffer& buffer) { return buffer.id == spot.buffer; });
  if (found == buffers.end() || resolved.operand->memory != plan_.profile.tile_memory) return false;
  const auto index = static_cast<size_t>(found - buffers.begin());
  if (plan_.allocation.offsets[index] != spot.address) return false;
  resolved.buffer = {spot.address, spot.address + found->size};
  if (resolved.Writes()) return true;
  for (const problem::Relation& relation : plan_.problem.relations) {
    if (relation.kind == problem::RelationKind::kAdjacent &&
        relation.second == static_cast<int>(index))
      resolved.buffer.begin = plan_.allocation.offsets[static_cast<size_t>(relation.first)];
  }
  return true;
}

// The extreme addresses on both sides. Pads that engines generate have no address, and neither has
// an empty region.
bool Opener::FitsMemory(const ResolvedRegion& resolved) const {
  const bool pads =
      HasPads(resolved.region) && (resolved.Writes() || resolved.operand->stored_pads);
  const std::optional<size_t> rows = execute::RowAxisOf(resolved.shape.size());
  std::optional<int64_t> least = resolved.base;
  std::optional<int64_t> most = resolved.base;
  for (size_t axis = 0; axis < resolved.shape.size() && least && most; ++axis) {
    const bool rolling_buffer = rows == axis && resolved.operand->rolling_buffer_rows > 0;
    const int64_t length =
        rolling_buffer ? resolved.operand->rolling_buffer_rows : resolved.box.extent[axis];
    const int64_t low = pads ? resolved.region.pad_low[axis] : 0;
    const int64_t high = pads ? resolved.region.pad_high[axis] : 0;
    const bool around = resolved.operand->bordered;
    const int64_t first = around && low > 0 ? -resolved.box.begin[axis] - low : -low;
    const int64_t end =
        (around && high > 0 ? resolved.shape[axis] - resolved.box.begin[axis] : length) + high;
    if (first >= end) return true;
    const auto down = base::CheckedMul(first, resolved.operand->strides[axis]);
    const auto up = base::CheckedMul(end - 1, resolved.operand->strides[axis]);
    least = down ? base::CheckedAdd(*least, *down) : std::nullopt;
    most = up ? base::CheckedAdd(*most, *up) : std::nullopt;
  }
  const int memory = resolved.operand->memory;
  return least && most && memories_.Contains(memory, *least) &&
         memories_.Contains(memory, *most + resolved.element_bytes - 1);
}

// A run knows only the addresses of bytes. A transfer copies the contents of its source to its
// destination and states which elements they should be. An operator receives the addresses of its
// region and looks for the elements that its definition requires, one by one (perform_compute.cc).
// So a wrong base, stride, turn, extent or pad puts a wrong tag somewhere. The transfer finds it,
// or the reader of that byte.

using execute::Contents;
using execute::Tag;

Performer::Performer(const Plan& plan, const Contents& contents, TaggedMemories& memories,
                     const std::function<void(const std::string&)>& tell)
    : plan_(plan),
      contents_(contents),
      memories_(memories),
      tell_(tell),
      opener_(plan, contents, memories),
      rules_(hw_profiles::AsProblemMemory(
                 plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)]),
             1) {
  if (rules_.Memory().banks.empty()) return;
  for (int64_t byte = 0; memories.Contains(plan.profile.tile_memory, byte); ++byte)
    bank_of_.push_back(rules_.BanksAt(byte, byte + 1));
}

void Performer::TellOnce(const std::string& fault) {
  if (!std::exchange(told_, true)) tell_(fault);
}

void Performer::Perform(const Job& job, const Run& run, int phase) {
  read_banks_ = written_banks_ = 0;
  told_ = false;
  std::vector<ResolvedRegion> resolved_regions(run.regions.size());
  for (size_t i = 0; i < run.regions.size(); ++i) {
    const std::string fault = opener_.Open(job, run, i, phase, resolved_regions[i]);
    if (!fault.empty()) return TellOnce(fault);
  }
  const std::string engine = EngineFor(job, resolved_regions);
  if (engine != job.on)
    return TellOnce(fmt::format("runs on '{}' where the profile has '{}'", job.on, engine));
  if (job.does == Does::kCompute) {
    round_ = SplitKRoundOf(job, run);
    Compute(plan_.network.operators[static_cast<size_t>(job.op)], resolved_regions);
  } else {
    Move(job, resolved_regions);
  }
}

std::string Performer::EngineFor(const Job& job,
                                 const std::vector<ResolvedRegion>& resolved_regions) const {
  if (job.does == Does::kLoad || job.does == Does::kStore) {
    if (resolved_regions.size() < 2) return "";
    const int home = resolved_regions[job.does == Does::kLoad ? 0 : 1].operand->memory;
    const hw_profiles::Link* link =
        hw_profiles::LinkBetween(plan_.profile, home, plan_.profile.tile_memory);
    return link == nullptr ? "" : link->name;
  }
  const graph::Operator& op = plan_.network.operators[static_cast<size_t>(job.op)];
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const hw_profiles::Engine* engine = hw_profiles::EngineFor(
      plan_.profile, op.kind, plan_.network.tensors[static_cast<size_t>(typical)].type, op.engine);
  return engine == nullptr ? "" : engine->name;
}

void Performer::Move(const Job& job, const std::vector<ResolvedRegion>& resolved_regions) {
  if (resolved_regions.size() % 2 != 0)
    return TellOnce("does not say from where to where it moves");
  for (size_t i = 1; i < resolved_regions.size(); i += 2) {
    told_ = false;
    const ResolvedRegion& from = resolved_regions[i - 1];
    const ResolvedRegion& to = resolved_regions[i];
    if (from.operand->part != Part::kFrom || to.operand->part != Part::kTo ||
        from.content != to.content)
      return TellOnce("does not say from where to where it moves");
    CheckMemories(job, from);
    CheckMemories(job, to);
    BeginAnew(to);
    MoveBox(from, to);
    WritePads(to);
  }
}

void Performer::CheckMemories(const Job& job, const ResolvedRegion& resolved) {
  const bool at_home = (job.does == Does::kLoad && resolved.operand->part == Part::kFrom) ||
                       (job.does == Does::kStore && resolved.operand->part == Part::kTo);
  if ((resolved.operand->memory == plan_.profile.tile_memory) == at_home)
    TellOnce(fmt::format("moves {} between memories that it does not join",
                         contents_.NameOf(resolved.content)));
}

// Row by row, from the uppermost on, because rows may move within the buffer in which they lie.
void Performer::MoveBox(const ResolvedRegion& from, const ResolvedRegion& to) {
  const std::optional<size_t> rows = execute::RowAxisOf(from.shape.size());
  const Walk sources = from.Elements();
  const Walk destinations = to.Elements();
  const size_t count = rows ? sources[*rows].size() : 1;
  for (size_t row = 0; row < count; ++row) {
    Walk source = sources;
    Walk destination = destinations;
    if (rows) {
      source[*rows] = {sources[*rows][row]};
      destination[*rows] = {destinations[*rows][row]};
    }
    std::vector<Tag> tags;
    ForEachPoint(source, [&](const Point& point) {
      for (int64_t part = 0; part < from.element_bytes; ++part) {
        const int64_t byte = from.base + point.address + part;
        ReadByte(from, byte);
        tags.push_back(memories_.TagAt(from.operand->memory, byte));
        const Tag wanted = Contents::TagOf(from.content, point.number * from.element_bytes + part);
        if (tags.back() != wanted)
          TellOnce(fmt::format("takes {} from address {}, which holds {}",
                               contents_.Describe(wanted), byte, contents_.Describe(tags.back())));
      }
    });
    size_t next = 0;
    ForEachPoint(destination, [&](const Point& point) {
      for (int64_t part = 0; part < to.element_bytes; ++part)
        WriteByte(to, to.base + point.address + part, tags[next++]);
    });
  }
}

void Performer::BeginAnew(const ResolvedRegion& resolved) {
  if (!resolved.region.fills) return;
  if (resolved.buffer.end == 0) return TellOnce("begins a buffer anew and names none");
  for (int64_t byte = resolved.buffer.begin; byte < resolved.buffer.end; ++byte)
    WriteByte(resolved, byte, Contents::TagOf(contents_.Spoiled(), 0));
}

void Performer::WritePads(const ResolvedRegion& resolved) {
  if (resolved.operand->table || resolved.region.pad_low.empty()) return;
  const Tag tag = Contents::TagOf(contents_.PaddingOf(resolved.operand->tensor), 0);
  ForEachPoint(resolved.ElementsAndPads(), [&](const Point& point) {
    for (int64_t part = 0; part < resolved.element_bytes && point.pad; ++part)
      WriteByte(resolved, resolved.base + point.address + part, tag);
  });
}

void Performer::ReadByte(const ResolvedRegion& resolved, int64_t byte) {
  const bool outside =
      resolved.buffer.end > 0 && (byte < resolved.buffer.begin || byte >= resolved.buffer.end);
  if (outside) {
    TellOnce(fmt::format("reads {} at address {}, outside its buffer",
                         contents_.NameOf(resolved.content), byte));
  }
  const int other = memories_.Read(resolved.operand->memory, byte);
  if (other >= 0) {
    TellOnce(fmt::format("reads {} at address {} and does not wait for #{}, which writes there",
                         contents_.NameOf(resolved.content), byte, other));
  }
  if (resolved.operand->memory == plan_.profile.tile_memory && !bank_of_.empty())
    read_banks_ |= bank_of_[static_cast<size_t>(byte)];
}

void Performer::WriteByte(const ResolvedRegion& resolved, int64_t byte, Tag tag) {
  if (resolved.buffer.end > 0 && (byte < resolved.buffer.begin || byte >= resolved.buffer.end)) {
    return TellOnce(fmt::format("writes {} at address {}, outside its buffer",
                                contents_.NameOf(resolved.content), byte));
  }
  const int other = memories_.Write(resolved.operand->memory, byte, tag);
  if (other >= 0) {
    TellOnce(
        fmt::format("writes {} at address {} and does not wait for #{}, which is at work there",
                    contents_.NameOf(resolved.content), byte, other));
  }
  if (resolved.operand->memory == plan_.profile.tile_memory && !bank_of_.empty())
    written_banks_ |= bank_of_[static_cast<size_t>(byte)];
}

}  // namespace tessera::plan::lowering

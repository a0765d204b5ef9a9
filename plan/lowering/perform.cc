#include "tessera/plan/lowering/perform.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

// An address is all that a run knows of a byte. A transfer takes whatever lies at its source to its destination, and says which
// elements that should have been; an operator is handed addresses of its region and looks for the elements that its definition asks
// for, one by one (perform_compute.cc). So a wrong base, stride, turn, extent or pad brings the wrong tag somewhere, and is
// found there or by who reads it.
namespace tessera::plan::lowering {

using execute::Contents;
using execute::Tag;

Performer::Performer(const Plan& plan, const Contents& contents, TaggedMemories& memories,
                     const std::function<void(const std::string&)>& tell)
    : plan_(plan),
      contents_(contents),
      memories_(memories),
      tell_(tell),
      opener_(plan, contents, memories),
      rules_(
          hw_profiles::AsProblemMemory(plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)]),
          1) {
  if (rules_.Memory().banks.empty()) return;
  for (int64_t byte = 0; memories.Contains(plan.profile.tile_memory, byte); ++byte)
    bank_of_.push_back(rules_.BanksAt(byte, byte + 1));
}

void Performer::TellOnce(const std::string& fault) {
  if (!std::exchange(told_, true)) tell_(fault);
}

void Performer::Perform(const Job& job, const Run& run, int parity) {
  read_banks_ = written_banks_ = 0;
  told_ = false;
  std::vector<Reach> reaches(run.regions.size());
  for (size_t i = 0; i < run.regions.size(); ++i) {
    const std::string fault = opener_.Open(job, run, i, parity, reaches[i]);
    if (!fault.empty()) return TellOnce(fault);
  }
  const std::string engine = EngineFor(job, reaches);
  if (engine != job.on)
    return TellOnce(fmt::format("runs on '{}' where the profile has '{}'", job.on, engine));
  if (job.does == Does::kCompute) {
    round_ = DepthRoundOf(job, run);
    Compute(plan_.network.operators[static_cast<size_t>(job.op)], reaches);
  } else {
    Move(job, reaches);
  }
}

std::string Performer::EngineFor(const Job& job, const std::vector<Reach>& reaches) const {
  if (job.does == Does::kLoad || job.does == Does::kStore) {
    if (reaches.size() < 2) return "";
    const int home = reaches[job.does == Does::kLoad ? 0 : 1].operand->memory;
    const hw_profiles::Link* link = hw_profiles::LinkBetween(plan_.profile, home, plan_.profile.tile_memory);
    return link == nullptr ? "" : link->name;
  }
  const graph::Operator& op = plan_.network.operators[static_cast<size_t>(job.op)];
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const hw_profiles::Engine* engine = hw_profiles::EngineFor(
      plan_.profile, op.kind, plan_.network.tensors[static_cast<size_t>(typical)].type, op.engine);
  return engine == nullptr ? "" : engine->name;
}

void Performer::Move(const Job& job, const std::vector<Reach>& reaches) {
  if (reaches.size() % 2 != 0) return TellOnce("does not say from where to where it moves");
  for (size_t i = 1; i < reaches.size(); i += 2) {
    told_ = false;
    const Reach& from = reaches[i - 1];
    const Reach& to = reaches[i];
    if (from.operand->part != Part::kFrom || to.operand->part != Part::kTo || from.content != to.content)
      return TellOnce("does not say from where to where it moves");
    CheckMemories(job, from);
    CheckMemories(job, to);
    BeginAnew(to);
    MoveBox(from, to);
    WritePads(to);
  }
}

void Performer::CheckMemories(const Job& job, const Reach& reach) {
  const bool at_home = (job.does == Does::kLoad && reach.operand->part == Part::kFrom) ||
                       (job.does == Does::kStore && reach.operand->part == Part::kTo);
  if ((reach.operand->memory == plan_.profile.tile_memory) == at_home)
    TellOnce(fmt::format("moves {} between memories that it does not join", contents_.NameOf(reach.content)));
}

// Row by row, from the uppermost on: rows may move within what they lie in.
void Performer::MoveBox(const Reach& from, const Reach& to) {
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
          TellOnce(fmt::format("takes {} from address {}, which holds {}", contents_.Describe(wanted), byte,
                               contents_.Describe(tags.back())));
      }
    });
    size_t next = 0;
    ForEachPoint(destination, [&](const Point& point) {
      for (int64_t part = 0; part < to.element_bytes; ++part)
        WriteByte(to, to.base + point.address + part, tags[next++]);
    });
  }
}

void Performer::BeginAnew(const Reach& reach) {
  if (!reach.region.fills) return;
  if (reach.buffer.end == 0) return TellOnce("begins a buffer anew and names none");
  for (int64_t byte = reach.buffer.begin; byte < reach.buffer.end; ++byte)
    WriteByte(reach, byte, Contents::TagOf(contents_.Spoiled(), 0));
}

void Performer::WritePads(const Reach& reach) {
  if (reach.operand->table || reach.region.pad_low.empty()) return;
  const Tag tag = Contents::TagOf(contents_.PaddingOf(reach.operand->tensor), 0);
  ForEachPoint(reach.ElementsAndPads(), [&](const Point& point) {
    for (int64_t part = 0; part < reach.element_bytes && point.pad; ++part)
      WriteByte(reach, reach.base + point.address + part, tag);
  });
}

void Performer::ReadByte(const Reach& reach, int64_t byte) {
  const bool outside = reach.buffer.end > 0 && (byte < reach.buffer.begin || byte >= reach.buffer.end);
  if (outside) {
    TellOnce(
        fmt::format("reads {} at address {}, outside its buffer", contents_.NameOf(reach.content), byte));
  }
  const int other = memories_.Read(reach.operand->memory, byte);
  if (other >= 0) {
    TellOnce(fmt::format("reads {} at address {} and does not wait for #{}, which writes there",
                         contents_.NameOf(reach.content), byte, other));
  }
  if (reach.operand->memory == plan_.profile.tile_memory && !bank_of_.empty())
    read_banks_ |= bank_of_[static_cast<size_t>(byte)];
}

void Performer::WriteByte(const Reach& reach, int64_t byte, Tag tag) {
  if (reach.buffer.end > 0 && (byte < reach.buffer.begin || byte >= reach.buffer.end)) {
    return TellOnce(
        fmt::format("writes {} at address {}, outside its buffer", contents_.NameOf(reach.content), byte));
  }
  const int other = memories_.Write(reach.operand->memory, byte, tag);
  if (other >= 0) {
    TellOnce(fmt::format("writes {} at address {} and does not wait for #{}, which is at work there",
                         contents_.NameOf(reach.content), byte, other));
  }
  if (reach.operand->memory == plan_.profile.tile_memory && !bank_of_.empty())
    written_banks_ |= bank_of_[static_cast<size_t>(byte)];
}

}  // namespace tessera::plan::lowering

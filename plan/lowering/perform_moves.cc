// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/plan/lowering/performer.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/residency.h"

// A run contains only addresses. A transfer copies the contents of its source to its destination
// and states which elements they should be. An operator receives the addresses of its region and
// looks for the elements that its definition requires, one by one (perform_compute.cc). So a wrong
// base, stride, turn, extent or pad puts a wrong tag somewhere. The transfer or the reader of that
// cell detects it.
namespace tessera::plan::lowering {

using execute::Contents;
using execute::Tag;

Performer::Performer(const Plan& plan, const Contents& contents, TaggedMemories& memories,
                     const base::Stop& stop, Listener& listener)
    : plan_(plan),
      contents_(contents),
      memories_(memories),
      stop_(stop),
      listener_(listener),
      opener_(plan, contents, memories),
      rules_(hw_profiles::AsProblemMemory(
                 plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)]),
             contents.CellsPerByte()) {
  if (rules_.Memory().banks.empty()) return;
  for (int64_t cell = 0; memories.Contains(plan.profile.tile_memory, cell); ++cell)
    bank_of_.push_back(rules_.BanksAt(cell, cell + 1));
}

void Performer::Perform(const Job& job, const Run& run, int phase) {
  read_banks_ = written_banks_ = 0;
  read_spans_.clear();
  BeginOperand();
  std::vector<ResolvedRegion> resolved_regions(run.regions.size());
  for (size_t i = 0; i < run.regions.size(); ++i) {
    ResolvedRegion& resolved = resolved_regions[i];
    const Opener::Fault fault = opener_.Open(job, run, i, phase, resolved);
    if (!fault.text.empty()) return ReportOnce(fault.kind, fault.text);
    if (resolved.buffer.end > 0 && rules_.IsReserved(resolved.buffer.begin, resolved.buffer.end))
      return ReportOnce(FindingKind::kOutside, fmt::format("finds {} in a reserved range",
                                                           contents_.NameOf(resolved.content)));
  }
  const std::string engine = EngineFor(job, resolved_regions);
  if (engine != job.on)
    return ReportOnce(FindingKind::kMalformed,
                      fmt::format("runs on '{}' where the profile has '{}'", job.on, engine));
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
  const hw_profiles::Engine* engine = verify::EngineOf(plan_, op);
  return engine == nullptr ? "" : engine->name;
}

void Performer::Move(const Job& job, const std::vector<ResolvedRegion>& resolved_regions) {
  const auto refuse = [this] {
    ReportOnce(FindingKind::kMalformed, "does not say from where to where it moves");
  };
  if (resolved_regions.size() % 2 != 0) return refuse();
  for (size_t i = 1; i < resolved_regions.size(); i += 2) {
    BeginOperand();
    const ResolvedRegion& from = resolved_regions[i - 1];
    const ResolvedRegion& to = resolved_regions[i];
    if (from.operand->part != Part::kFrom || to.operand->part != Part::kTo ||
        from.content != to.content)
      return refuse();
    CheckMemories(job, from);
    CheckMemories(job, to);
    BeginAnew(to);
    MoveBox(from, to);
    WritePads(to);
    ReportTroubles();
  }
}

void Performer::CheckMemories(const Job& job, const ResolvedRegion& resolved) {
  const bool at_home = (job.does == Does::kLoad && resolved.operand->part == Part::kFrom) ||
                       (job.does == Does::kStore && resolved.operand->part == Part::kTo);
  if (IsInTileMemory(resolved) == at_home)
    ReportOnce(FindingKind::kForbidden,
               fmt::format("moves {} between memories that it does not join",
                           contents_.NameOf(resolved.content)));
}

// Within one memory, rows move one by one from the top, because source and destination may be in
// one buffer. The destination gets the expected tags, so that a fault is reported once.
void Performer::MoveBox(const ResolvedRegion& from, const ResolvedRegion& to) {
  const Walk source = from.Elements();
  const Walk destination = to.Elements();
  const std::vector<size_t> nesting = from.Nesting(source);
  const auto move = [&](Walk sources, Walk destinations) {
    ForEachSeries(Nested(std::move(sources), nesting),
                  [&](const Series& series) { Read(from, series); });
    ForEachSeries(Nested(std::move(destinations), nesting),
                  [&](const Series& series) { Write(to, series); });
  };
  const std::optional<size_t> rows = plan::RowAxisOf(from.shape.size());
  if (!rows || from.operand->memory != to.operand->memory) return move(source, destination);
  for (size_t row = 0; row < source[*rows].size(); ++row) {
    Walk source_row = source;
    Walk destination_row = destination;
    source_row[*rows] = {source[*rows][row]};
    destination_row[*rows] = {destination[*rows][row]};
    move(std::move(source_row), std::move(destination_row));
  }
}

void Performer::BeginAnew(const ResolvedRegion& resolved) {
  if (!resolved.region.fills) return;
  const problem::AddressRange& buffer = resolved.buffer;
  if (buffer.end == 0)
    return ReportOnce(FindingKind::kMalformed, "begins a buffer anew and names none");
  WriteCells(resolved, {buffer.begin, 1, buffer.end - buffer.begin},
             Contents::TagOf(contents_.Spoiled(), 0), 0);
}

void Performer::WritePads(const ResolvedRegion& resolved) {
  if (resolved.operand->table || resolved.region.pad_low.empty()) return;
  ForEachSeries(resolved.ElementsAndPads(), [&](const Series& series) {
    if (series.first.pad) Write(resolved, series);
  });
}

Tag Performer::TagOf(const ResolvedRegion& resolved, const Series& series) const {
  if (series.first.pad) return Contents::TagOf(contents_.PaddingOf(resolved.operand->tensor), 0);
  return Contents::TagOf(resolved.content,
                         (FirstNumberOf(resolved) + series.first.number) * resolved.element_cells);
}

bool Performer::IsOver(int64_t cells) {
  constexpr int64_t kBetweenPolls = 1 << 16;
  cells_to_poll_ -= cells;
  if (cells_to_poll_ <= 0) {
    is_over_ = is_over_ || stop_.Requested();
    cells_to_poll_ = kBetweenPolls;
  }
  return is_over_;
}

void Performer::Read(const ResolvedRegion& resolved, const Series& series) {
  if (IsOver(series.count * resolved.element_cells)) return;
  const int memory = resolved.operand->memory;
  const problem::AddressRange span = {resolved.base + series.Lowest(),
                                      resolved.base + series.Highest() + resolved.element_cells};
  if (resolved.buffer.end > 0 &&
      (span.begin < resolved.buffer.begin || span.end > resolved.buffer.end)) {
    const bool below = span.begin < resolved.buffer.begin;
    outside_trouble_.Add(
        {FindingKind::kOutside, below ? span.begin : span.end - 1, 0, 0, -1, &resolved});
  }
  NoteReach(resolved, span);
  if (IsInTileMemory(resolved) || memories_.WriterAt(memory, span.begin) >= 0)
    cells_checked_ += series.count * resolved.element_cells;
  const Tag step = TagStep(resolved, series);
  for (int64_t part = 0; part < resolved.element_cells; ++part) {
    const TaggedMemories::Cells cells = {resolved.base + series.first.address + part,
                                         series.address_step, series.count};
    const Tag first = TagOf(resolved, series) + (series.first.pad ? 0 : static_cast<Tag>(part));
    memories_.Read(memory, cells, [&](int64_t i, Tag found, int32_t other) {
      const Tag wanted = first + static_cast<Tag>(i) * step;
      if (other < 0 && found == wanted) return;
      const int64_t cell = cells.first + i * cells.step;
      if (other >= 0) {
        order_trouble_.Add({FindingKind::kArriving, cell, wanted, found, other, &resolved});
      } else {
        contents_trouble_.Add({Diagnose(wanted, found), cell, wanted, found,
                               memories_.WriterAt(memory, cell), &resolved});
      }
    });
    NoteBanks(resolved, cells, read_banks_);
  }
}

void Performer::Write(const ResolvedRegion& resolved, const Series& series) {
  if (IsOver(series.count * resolved.element_cells)) return;
  for (int64_t part = 0; part < resolved.element_cells; ++part) {
    WriteCells(resolved,
               {resolved.base + series.first.address + part, series.address_step, series.count},
               TagOf(resolved, series) + (series.first.pad ? 0 : static_cast<Tag>(part)),
               TagStep(resolved, series));
  }
}

void Performer::WriteCells(const ResolvedRegion& resolved, const TaggedMemories::Cells& cells,
                           Tag first, Tag step) {
  const problem::AddressRange& buffer = resolved.buffer;
  const auto is_inside = [&buffer](int64_t cell) {
    return buffer.end == 0 || (buffer.begin <= cell && cell < buffer.end);
  };
  const int64_t last = cells.first + (cells.count - 1) * cells.step;
  if (cells.count > 1 && !(is_inside(cells.first) && is_inside(last))) {
    for (int64_t i = 0; i < cells.count; ++i)
      WriteCells(resolved, {cells.first + i * cells.step, 1, 1}, first + static_cast<Tag>(i) * step,
                 step);
    return;
  }
  if (!is_inside(cells.first))
    return outside_trouble_.Add({FindingKind::kOutside, cells.first, 0, 0, -1, &resolved});
  memories_.Write(
      resolved.operand->memory, cells, first, step,
      [&](int64_t cell, const TaggedMemories::Conflict& conflict) {
        order_trouble_.Add({conflict.reads ? FindingKind::kMoving : FindingKind::kArriving, cell, 0,
                            conflict.found, conflict.run, &resolved});
      });
  NoteBanks(resolved, cells, written_banks_);
}

void Performer::NoteBanks(const ResolvedRegion& resolved, const TaggedMemories::Cells& cells,
                          AccessRules::Banks& banks) const {
  if (bank_of_.empty() || !IsInTileMemory(resolved)) return;
  for (int64_t i = 0; i < cells.count; ++i)
    banks |= bank_of_[static_cast<size_t>(cells.first + i * cells.step)];
}

void Performer::NoteReach(const ResolvedRegion& resolved, const problem::AddressRange& cells) {
  if (read_spans_.empty() || read_spans_.back().operand != resolved.operand)
    read_spans_.push_back({resolved.operand, cells});
  problem::AddressRange& all = read_spans_.back().cells;
  all = {std::min(all.begin, cells.begin), std::max(all.end, cells.end)};
}

FindingKind Performer::Diagnose(Tag wanted, Tag found) const {
  const int content = Contents::ContentOf(found);
  if (found == execute::kNothing) return FindingKind::kUnwritten;
  if (content == Contents::ContentOf(wanted)) return FindingKind::kStale;
  return content == contents_.Lost() ? FindingKind::kLost : FindingKind::kOverwritten;
}

void Performer::BeginOperand() {
  reported_ = false;
  contents_trouble_ = order_trouble_ = outside_trouble_ = {};
}

void Performer::ReportOnce(FindingKind kind, const std::string& fault) {
  if (!std::exchange(reported_, true)) listener_.ReportFault(kind, fault);
}

void Performer::ReportTroubles() {
  for (const Trouble* trouble : {&outside_trouble_, &order_trouble_, &contents_trouble_}) {
    if (trouble->cells == 0) continue;
    std::string text = Text(*trouble);
    if (trouble->cells > 1) text += fmt::format("; {} cells in all", trouble->cells);
    listener_.ReportFault(trouble->kind, text);
  }
  BeginOperand();
}

std::string Performer::Text(const Trouble& trouble) const {
  const ResolvedRegion& region = *trouble.region;
  const int64_t per_byte = contents_.CellsPerByte();
  const int64_t address = trouble.cell / per_byte;
  const std::string wanted = contents_.Describe(trouble.wanted);
  const std::string found = contents_.Describe(trouble.found);
  switch (trouble.kind) {
    case FindingKind::kOutside:
      return fmt::format("{} {} at address {}, outside buffer '{}' at [{}, {})",
                         region.Writes() ? "writes" : "reads", contents_.NameOf(region.content),
                         address, region.name, region.buffer.begin / per_byte,
                         region.buffer.end / per_byte);
    case FindingKind::kMoving:
      return fmt::format("overwrites {} at address {} while {} may still be reading it", found,
                         address, listener_.NameOf(trouble.run));
    case FindingKind::kArriving:
      return fmt::format(
          "{} at address {} while {} may still be writing it",
          region.Writes() ? "writes " + contents_.NameOf(region.content) : "reads " + wanted,
          address, listener_.NameOf(trouble.run));
    default:
      break;
  }
  if (region.name.empty() && trouble.kind == FindingKind::kUnwritten)
    return fmt::format("{} was never written in its home", wanted);
  return fmt::format("{} should lie in {} at address {}, which holds {}, written by {}", wanted,
                     region.name.empty() ? "its home" : "buffer '" + region.name + "'", address,
                     found, listener_.NameOf(trouble.run));
}

}  // namespace tessera::plan::lowering

#include "tessera/plan/execute/memories.h"

#include <fmt/core.h>

#include <algorithm>

namespace tessera::plan::execute {
namespace {

template <typename Visit>
void ForEachCell(const Place& place, const std::vector<Run>& runs, const Visit& visit) {
  for (const Run& run : runs) {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t cell = run.address + i * run.address_step;
      for (int64_t part = 0; part < place.element_cells; ++part) visit(run, i, part, cell + part);
    }
  }
}

// The cells from the least to one past the greatest.
problem::AddressRange SpanOf(const Place& place, const Run& run) {
  const int64_t last = run.address + (run.count - 1) * run.address_step;
  return {std::min(run.address, last), std::max(run.address, last) + place.element_cells};
}

}  // namespace

Memories::Memories(const Contents& contents, const problem::Memory& tile_memory, Ledger& ledger)
    : contents_(contents),
      rules_(tile_memory, contents.CellsPerByte()),
      memory_(tile_memory.capacity * contents.CellsPerByte()),
      stores_(static_cast<size_t>(contents.PaddingOf(0))),
      ledger_(ledger) {}

void Memories::Provide(const Place& place) {
  if (place.where == Where::kHome) {
    stores_[static_cast<size_t>(place.content)].provided = true;
    return;
  }
  Box box;
  for (const AxisPlace& axis : place.axes) box.push_back(axis.held);
  const std::vector<Run> runs = RunsOf(place, WithPads(place, box));
  if (MayTouch(place, runs, problem::AccessKind::kWrite)) Write(place, runs, 0);
}

Tag Memories::Expected(const Place& place, const Run& run, int64_t i, int64_t part) const {
  if (run.pad) return Contents::TagOf(contents_.PaddingOf(place.content), 0);
  return Contents::TagOf(place.content,
                         (run.number + i * run.number_step) * place.element_cells + part);
}

problem::AddressRange Memories::WithinMemory(const problem::AddressRange& cells) const {
  return {std::clamp<int64_t>(cells.begin, 0, memory_.Cells()),
          std::clamp<int64_t>(cells.end, 0, memory_.Cells())};
}

AccessRules::Banks Memories::BanksOf(const Place& place, const std::vector<Run>& runs) const {
  AccessRules::Banks banks = 0;
  if (rules_.Memory().banks.empty() || place.where != Where::kTileMemory) return banks;
  for (const Run& run : runs) {
    const problem::AddressRange span = SpanOf(place, run);
    banks |= rules_.BanksAt(span.begin, span.end);
  }
  return banks;
}

bool Memories::MayTouch(const Place& place, const std::vector<Run>& runs,
                        problem::AccessKind kind) {
  const std::string verb = kind == problem::AccessKind::kRead ? "reads" : "writes";
  const auto refuse = [&](FindingKind finding, int64_t cell, const std::string& why) {
    ledger_.Note(finding, kNothing, cell, 1,
                 fmt::format("{} {} {}", verb, contents_.NameOf(place.content), why));
    return false;
  };
  if (place.where == Where::kNone)
    return refuse(FindingKind::kOutside, -1, "where no buffer holds it");
  if (!place.refusal.empty()) {
    refuse(FindingKind::kForbidden, -1, place.refusal);  // said once, then done all the same
  }
  if (place.where == Where::kHome) return true;
  for (const Run& run : runs) {
    const problem::AddressRange span = SpanOf(place, run);
    if (span.begin < place.cells.begin || place.cells.end < span.end) {
      const int64_t cell = span.begin < place.cells.begin ? span.begin : span.end - 1;
      return refuse(FindingKind::kOutside, cell,
                    fmt::format("at address {}, outside buffer '{}' at [{}, {})",
                                cell / contents_.CellsPerByte(), place.buffer,
                                place.cells.begin / contents_.CellsPerByte(),
                                place.cells.end / contents_.CellsPerByte()));
    }
    if (!memory_.Contains(span.begin) || !memory_.Contains(span.end - 1)) {
      return refuse(FindingKind::kOutside, span.end - 1,
                    fmt::format("at address {}, outside the memory",
                                (span.end - 1) / contents_.CellsPerByte()));
    }
  }
  if (!runs.empty() && rules_.IsReserved(place.cells.begin, place.cells.end)) {
    return refuse(FindingKind::kOutside, place.cells.begin, "in a reserved range");
  }
  return true;
}

void Memories::CheckRead(const Place& place, const std::vector<Run>& runs,
                         std::optional<FindingKind> kind) {
  if (place.where == Where::kHome) {
    CheckStore(place, runs, kind);
    return;
  }
  Trouble trouble;
  int64_t cells = 0;
  ForEachCell(place, runs, [&](const Run& run, int64_t i, int64_t part, int64_t cell) {
    const Tag expected = Expected(place, run, i, part);
    ++cells;
    if (memory_.TagAt(cell) != expected) {
      trouble.Add(Diagnose(expected, memory_.TagAt(cell)), expected, cell);
    }
  });
  ledger_.Totals().cells_checked += cells;
  NoteRead(trouble, place, kind);
}

FindingKind Memories::Diagnose(Tag expected, Tag found) const {
  const int content = Contents::ContentOf(found);
  if (found == kNothing) return FindingKind::kUnwritten;
  if (content == Contents::ContentOf(expected)) return FindingKind::kStale;
  if (content == contents_.Arriving()) return FindingKind::kArriving;
  return content == contents_.Lost() ? FindingKind::kLost : FindingKind::kOverwritten;
}

void Memories::NoteRead(const Trouble& trouble, const Place& place,
                        std::optional<FindingKind> kind) {
  if (trouble.cells == 0) return;
  const Tag found = memory_.TagAt(trouble.cell);
  ledger_.Note(
      kind.value_or(trouble.kind), trouble.expected, trouble.cell, trouble.cells,
      fmt::format("{} should lie in buffer '{}' at address {}, which holds {}, written by {}",
                  contents_.Describe(trouble.expected), place.buffer,
                  trouble.cell / contents_.CellsPerByte(), contents_.Describe(found),
                  ledger_.TextOfActor(memory_.WriterAt(trouble.cell))));
}

void Memories::CheckStore(const Place& place, const std::vector<Run>& runs,
                          std::optional<FindingKind> kind) {
  const Store& store = stores_[static_cast<size_t>(place.content)];
  if (store.provided) return;
  Trouble trouble;
  ForEachCell(place, runs, [&](const Run& run, int64_t i, int64_t part, int64_t /*cell*/) {
    const auto number = static_cast<size_t>(run.number + i * run.number_step);
    if (part > 0 || (number < store.written.size() && store.written[number])) return;
    trouble.Add(FindingKind::kUnwritten, Expected(place, run, i, 0), -1);
  });
  for (const Run& run : runs) ledger_.Totals().cells_checked += run.count * place.element_cells;
  if (trouble.cells == 0) return;
  ledger_.Note(
      kind.value_or(trouble.kind), trouble.expected, -1, trouble.cells,
      fmt::format("{} was never written in its home", contents_.Describe(trouble.expected)));
}

void Memories::Write(const Place& place, const std::vector<Run>& runs, uint32_t actor) {
  if (place.where == Where::kHome) {
    Store& store = stores_[static_cast<size_t>(place.content)];
    const int64_t elements = graph::ElementsOf(contents_.ShapeOf(place.content));
    store.written.resize(static_cast<size_t>(elements), false);
    for (const Run& run : runs) {
      for (int64_t i = 0; i < run.count; ++i) {
        store.written[static_cast<size_t>(run.number + i * run.number_step)] = true;
      }
    }
    return;
  }
  Trouble trouble;
  ForEachCell(place, runs, [&](const Run& run, int64_t i, int64_t part, int64_t cell) {
    Put(cell, Expected(place, run, i, part), actor, trouble);
  });
  NoteWrite(trouble);
}

void Memories::Put(int64_t cell, Tag tag, uint32_t actor, Trouble& trouble) {
  const Tag found = memory_.TagAt(cell);
  if (memory_.IsHeld(cell)) {
    trouble.Add(FindingKind::kMoving, found, cell);
  } else if (Contents::ContentOf(found) == contents_.Arriving()) {
    trouble.Add(FindingKind::kArriving, found, cell);
    return;  // the transfer wins
  }
  memory_.Write(cell, tag, actor);
}

void Memories::NoteWrite(const Trouble& trouble) {
  if (trouble.cells == 0) return;
  const std::string address = std::to_string(trouble.cell / contents_.CellsPerByte());
  const std::string story =
      trouble.kind == FindingKind::kMoving
          ? fmt::format("overwrites {} at address {} while a transfer may still be reading it",
                        contents_.Describe(trouble.expected), address)
          : fmt::format("writes address {} while it may still be written by {}", address,
                        ledger_.TextOfActor(memory_.WriterAt(trouble.cell)));
  ledger_.Note(trouble.kind, trouble.expected, trouble.cell, trouble.cells, story);
}

void Memories::Fill(const problem::AddressRange& cells, Tag tag, uint32_t actor) {
  const problem::AddressRange within = WithinMemory(cells);
  Trouble trouble;
  for (int64_t cell = within.begin; cell < within.end; ++cell) Put(cell, tag, actor, trouble);
  NoteWrite(trouble);
}

void Memories::BeginArrival(const Place& place, const std::vector<Run>& runs, bool fills,
                            uint32_t actor) {
  if (place.where != Where::kTileMemory) return;
  const Tag arriving = Contents::TagOf(contents_.Arriving(), 0);
  if (fills) {
    Fill(place.cells, arriving, actor);
    return;
  }
  Trouble trouble;
  ForEachCell(place, runs, [&](const Run&, int64_t, int64_t, int64_t cell) {
    Put(cell, arriving, actor, trouble);
  });
  NoteWrite(trouble);
}

void Memories::Arrive(const Place& place, const std::vector<Run>& runs, bool fills,
                      uint32_t actor) {
  if (place.where != Where::kTileMemory) {
    Write(place, runs, actor);
    return;
  }
  const Tag spoiled = Contents::TagOf(contents_.Spoiled(), 0);
  const auto is_own = [&](int64_t cell) {
    return memory_.WriterAt(cell) == actor &&
           Contents::ContentOf(memory_.TagAt(cell)) == contents_.Arriving();
  };
  ForEachCell(place, runs, [&](const Run& run, int64_t i, int64_t part, int64_t cell) {
    if (is_own(cell)) memory_.Write(cell, Expected(place, run, i, part), actor);
  });
  const problem::AddressRange rest = fills ? WithinMemory(place.cells) : problem::AddressRange{};
  for (int64_t cell = rest.begin; cell < rest.end; ++cell) {
    if (is_own(cell)) memory_.Write(cell, spoiled, actor);
  }
}

void Memories::Hold(const Place& place, const std::vector<Run>& runs) {
  if (place.where != Where::kTileMemory) return;
  ForEachCell(place, runs, [&](const Run&, int64_t, int64_t, int64_t cell) { memory_.Hold(cell); });
}

void Memories::Release(const Place& place, const std::vector<Run>& runs) {
  if (place.where != Where::kTileMemory) return;
  ForEachCell(place, runs,
              [&](const Run&, int64_t, int64_t, int64_t cell) { memory_.Release(cell); });
}

}  // namespace tessera::plan::execute

#include "tessera/plan/execute/ledger.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::plan::execute {

std::string_view NameOf(FindingKind kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "unwritten", "stale",   "overwritten", "arriving",   "moving", "in place",
      "lost",      "outside", "forbidden",   "incomplete", "control"};
  return kNames.at(static_cast<size_t>(kind));
}

void Ledger::Enter(int64_t step, int64_t tile) { at_ = {step, tile, -1, ""}; }

uint32_t Ledger::Record(Actor actor) {
  at_ = std::move(actor);
  actors_.push_back(at_);
  return static_cast<uint32_t>(actors_.size()) - 1;
}

uint32_t Ledger::ActOperator(int op) { return Record({at_.step, at_.tile, op, ""}); }
uint32_t Ledger::ActTransfer(const std::string& link) {
  return Record({at_.step, at_.tile, -1, link});
}
uint32_t Ledger::ActNobody() { return Record({at_.step, at_.tile, -1, ""}); }

std::string Ledger::TextOfActor(uint32_t actor) const {
  const Actor& done = actors_[actor];
  if (done.step < 0) return "before the program";
  std::string text = "nobody";
  if (done.op >= 0)
    text = fmt::format("operator '{}'", network_.operators[static_cast<size_t>(done.op)].id);
  if (!done.link.empty()) text = fmt::format("a transfer of '{}'", done.link);
  text += fmt::format(" at step {}", done.step);
  return done.tile < 0 ? text : text + fmt::format(" for tile {}", done.tile);
}

void Ledger::Note(FindingKind kind, Tag expected, int64_t cell, int64_t cells,
                  const std::string& story) {
  ++found_;
  if (findings_.size() >= most_) return;
  Finding finding;
  finding.kind = kind;
  finding.step = at_.step;
  finding.tile = at_.tile;
  finding.op = at_.op;
  if (expected != kNothing) finding.content = contents_.NameOf(Contents::ContentOf(expected));
  finding.coordinates = contents_.CoordinatesOf(expected);
  finding.address = cell < 0 ? -1 : cell / contents_.CellsPerByte();
  finding.cells = cells;
  std::string where = at_.step < 0 ? "before the program" : fmt::format("step {}", at_.step);
  if (at_.tile >= 0) where += fmt::format(", tile {}", at_.tile);
  if (at_.op >= 0)
    where += fmt::format(", operator '{}'", network_.operators[static_cast<size_t>(at_.op)].id);
  if (!at_.link.empty()) where += fmt::format(", transfer of '{}'", at_.link);
  finding.message = where + ": " + story;
  if (cells > 1) finding.message += fmt::format("; {} cells in all", cells);
  findings_.push_back(std::move(finding));
}

}  // namespace tessera::plan::execute

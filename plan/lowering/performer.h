// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/lowering/memory_state.h"
#include "tessera/plan/lowering/run_order.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::lowering {

// Receives the faults that are found.
class Listener {
 public:
  // Reports a fault. The text ends a sentence that begins with the name of the current run.
  virtual void ReportFault(FindingKind kind, const std::string& fault) = 0;

  // Returns the name of a run, by its number in the memories; -1: before the program.
  virtual std::string NameOf(int32_t run) const = 0;

 protected:
  ~Listener() = default;
};

// An index along one axis, or a point of several axes: cells from the operand's base, and the
// row-major number of the element in its tensor (meaningless in a pad).
struct Point {
  int64_t address = 0;
  int64_t number = 0;
  bool pad = false;
};

// Points in equal steps.
struct Series {
  Point first;
  int64_t count = 1;
  int64_t address_step = 0;
  int64_t number_step = 0;

  // The least and the greatest address.
  int64_t Lowest() const {
    return first.address + std::min<int64_t>(0, (count - 1) * address_step);
  }
  int64_t Highest() const {
    return first.address + std::max<int64_t>(0, (count - 1) * address_step);
  }
};

// The points of a product of axes.
using Walk = std::vector<std::vector<Point>>;

// Returns the points of one axis as series, in order.
std::vector<Series> SeriesOf(const std::vector<Point>& points);

template <typename Visit>
void ForEachSeries(const Walk& walk, const std::vector<Series>& innermost, const Visit& visit,
                   const Point& at, size_t axis) {
  if (axis + 1 < walk.size()) {
    for (const Point& point : walk[axis])
      ForEachSeries(walk, innermost, visit,
                    {at.address + point.address, at.number + point.number, at.pad || point.pad},
                    axis + 1);
    return;
  }
  for (Series series : innermost) {
    series.first.address += at.address;
    series.first.number += at.number;
    series.first.pad = series.first.pad || at.pad;
    visit(series);
  }
}

// Visits the points in order, the last axis innermost.
template <typename Visit>
void ForEachSeries(const Walk& walk, const Visit& visit) {
  const std::vector<Series> innermost =
      walk.empty() ? std::vector<Series>{Series{}} : SeriesOf(walk.back());
  ForEachSeries(walk, innermost, visit, {}, 0);
}

// The resolved region of a run in one operand.
struct ResolvedRegion {
  const Operand* operand = nullptr;
  FixedRegion region;
  FixedRegion box;  // its begin and extent are used
  graph::Shape shape;
  int64_t base = 0;  // cell of the box's first element, or of row 0 of the rolling buffer
  int64_t element_cells = 1;
  int content = -1;
  std::string name;              // of the buffer; empty: in its home
  problem::AddressRange buffer;  // the cells that may be touched; empty: any

  bool Writes() const {
    return operand->part == Part::kOutput || operand->part == Part::kTo ||
           operand->part == Part::kScratch || operand->part == Part::kPartialSums;
  }
  plan::Box Box() const;

  // The element with that index of the tensor along an axis. Indices outside the tensor are in its
  // pads, next to the box.
  Point At(size_t axis, int64_t index) const;

  Walk Elements() const;                                         // of the box
  Walk ElementsAndPads() const;                                  // and of the pads next to it
  Walk Of(const std::vector<std::vector<int64_t>>& axes) const;  // of indices of the tensor

  // The axes from the outermost to the best innermost one, along which neighbours are adjacent in
  // memory and series are long.
  std::vector<size_t> Nesting(const Walk& walk) const;
};

// The points with the axes in that order.
Walk Nested(Walk walk, const std::vector<size_t>& nesting);

// Opens regions of runs. Reports a fault in words if the region does not match its tensor, buffer
// or memory. The arguments must outlive it.
class Opener {
 public:
  Opener(const Plan& plan, const execute::Contents& contents, const TaggedMemories& memories)
      : plan_(plan), contents_(contents), memories_(memories) {}

  struct Fault {
    FindingKind kind = FindingKind::kOutside;
    std::string text;  // empty: none
  };
  Fault Open(const Job& job, const Run& run, size_t region, int phase,
             ResolvedRegion& resolved) const;

 private:
  static bool FitsTensor(const ResolvedRegion& resolved);
  bool FindBuffer(const Spot& spot, ResolvedRegion& resolved) const;
  bool FitsMemory(const ResolvedRegion& resolved) const;

  const Plan& plan_;
  const execute::Contents& contents_;
  const TaggedMemories& memories_;
};

// Performs runs of jobs on tagged memories, one at a time. Transfers and copies move tags from
// address to address. Operators are checked against the tags at the addresses of their regions. It
// uses the network, the buffers and the profile, and does not depend on how the plan was lowered.
// After the stop it touches no further cells. The arguments must outlive it.
class Performer {
 public:
  // The listener receives each kind of fault once per operand.
  Performer(const Plan& plan, const execute::Contents& contents, TaggedMemories& memories,
            const base::Stop& stop, Listener& listener);

  // Performs a run that moves or computes. Begins it in `memories`.
  void Perform(const Job& job, const Run& run, int phase);

  // The banks of the tile memory that the last run read, and wrote.
  AccessRules::Banks ReadBanks() const { return read_banks_; }
  AccessRules::Banks WrittenBanks() const { return written_banks_; }
  const AccessRules& Rules() const { return rules_; }

  // Cells that were compared with what they should hold: of the tile memory, and of tensors at home
  // that the program makes.
  int64_t CellsChecked() const { return cells_checked_; }

 private:
  // A round of an operator that accumulates over K slices.
  struct SplitKRound {
    plan::Range k_extent;
    int64_t number = 0;
    bool last = false;
  };
  std::optional<SplitKRound> SplitKRoundOf(const Job& job, const Run& run) const;

  // For partial sums, the number of those that precede the rounds of the resolved region.
  int64_t FirstNumberOf(const ResolvedRegion& resolved) const;

  // The first cell of an operand with one kind of fault, and the number of such cells.
  struct Trouble {
    FindingKind kind = FindingKind::kUnwritten;
    int64_t cell = -1;
    Tag wanted = execute::kNothing;
    Tag found = execute::kNothing;
    int32_t run = -1;  // that the fault is about
    const ResolvedRegion* region = nullptr;
    int64_t cells = 0;

    void Add(const Trouble& fault) {
      const int64_t before = cells;
      if (before == 0) *this = fault;
      cells = before + 1;
    }
  };

  // Cells of one operand that the current run has read.
  struct ReadSpan {
    const Operand* operand = nullptr;
    problem::AddressRange cells;
  };

  void Move(const Job& job, const std::vector<ResolvedRegion>& resolved_regions);
  void MoveBox(const ResolvedRegion& from, const ResolvedRegion& to);
  void CheckMemories(const Job& job, const ResolvedRegion& resolved);
  std::string EngineFor(const Job& job, const std::vector<ResolvedRegion>& resolved_regions) const;

  void Compute(const graph::Operator& op, const std::vector<ResolvedRegion>& resolved_regions);
  void CheckAllGiven(const graph::Operator& op, const std::vector<ResolvedRegion>& resolved_regions,
                     const plan::Box& made);
  void CheckOperand(const graph::Operator& op, const ResolvedRegion& resolved,
                    const plan::ElementSet& reads);
  void CheckPads(const graph::Operator& op, const ResolvedRegion& resolved,
                 const plan::ElementSet& reads);
  void ReadOperand(const graph::Operator& op, const ResolvedRegion& resolved,
                   const plan::Box& made);
  void UseScratch(const ResolvedRegion& scratch);
  void CheckScratch(const ResolvedRegion& scratch);
  void WriteResult(const graph::Operator& op, const ResolvedRegion& resolved);
  void CheckInPlace(const graph::Operator& op, const ResolvedRegion& result, const Walk& walk);
  bool WorksByChannel(const graph::Operator& op) const;
  bool HasRoomForAChannel(const ResolvedRegion& result) const;
  bool MayReplace(const graph::Operator& op, execute::Tag old_tag, execute::Tag new_tag,
                  const ResolvedRegion& resolved) const;
  plan::ElementSet ReadsOf(const graph::Operator& op, Part part, size_t position,
                           const plan::Box& made) const;

  void BeginAnew(const ResolvedRegion& resolved);
  void WritePads(const ResolvedRegion& resolved);

  // Counts `cells` and returns whether the stop came. The stop is polled after a fixed number of
  // cells.
  bool IsOver(int64_t cells);

  // Compares what the elements' cells hold with what they should; writes what they should.
  void Read(const ResolvedRegion& resolved, const Series& series);
  void Write(const ResolvedRegion& resolved, const Series& series);
  void WriteCells(const ResolvedRegion& resolved, const TaggedMemories::Cells& cells,
                  execute::Tag first, execute::Tag step);

  // The tag of the first cell of the series, and the step from element to element.
  execute::Tag TagOf(const ResolvedRegion& resolved, const Series& series) const;
  static execute::Tag TagStep(const ResolvedRegion& resolved, const Series& series) {
    return series.first.pad
               ? 0
               : static_cast<execute::Tag>(series.number_step * resolved.element_cells);
  }
  void NoteBanks(const ResolvedRegion& resolved, const TaggedMemories::Cells& cells,
                 AccessRules::Banks& banks) const;
  void NoteReach(const ResolvedRegion& resolved, const problem::AddressRange& cells);
  bool IsInTileMemory(const ResolvedRegion& resolved) const {
    return resolved.operand->memory == plan_.profile.tile_memory;
  }
  bool MayHaveRead(const ResolvedRegion& resolved) const;
  FindingKind Diagnose(execute::Tag wanted, execute::Tag found) const;

  void BeginOperand();
  void ReportTroubles();
  std::string Text(const Trouble& contents) const;
  void ReportOnce(FindingKind kind, const std::string& fault);

  const Plan& plan_;
  const execute::Contents& contents_;
  TaggedMemories& memories_;
  const base::Stop& stop_;
  Listener& listener_;
  Opener opener_;
  AccessRules rules_;
  // by cell of the tile memory; empty without banks
  std::vector<AccessRules::Banks> bank_of_;
  AccessRules::Banks read_banks_ = 0;
  AccessRules::Banks written_banks_ = 0;
  int64_t cells_checked_ = 0;
  int64_t cells_to_poll_ = 0;  // until the stop is polled next
  bool is_over_ = false;
  int64_t scratch_cells_ = 0;         // of the current operator
  std::vector<ReadSpan> read_spans_;  // of the current run
  bool reported_ = false;             // of the current operand
  Trouble contents_trouble_;          // of the current operand: cells that hold something else
  Trouble order_trouble_;             // cells that another run may touch at the same time
  Trouble outside_trouble_;
  std::optional<SplitKRound> round_;  // of the current run
};

}  // namespace tessera::plan::lowering

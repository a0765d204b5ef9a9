#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/access_rules.h"
#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/elements.h"
#include "tessera/plan/lowering/memory_state.h"
#include "tessera/plan/lowering/run_order.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::lowering {

// An index along one axis, or a point of several axes: bytes from the operand's base, and the
// row-major number of the element in its tensor (meaningless in a pad).
struct Point {
  int64_t address = 0;
  int64_t number = 0;
  bool pad = false;
};

// The points of a product of axes.
using Walk = std::vector<std::vector<Point>>;

template <typename Visit>
void ForEachPoint(const Walk& walk, const Visit& visit, const Point& at = {}, size_t axis = 0) {
  if (axis == walk.size()) return visit(at);
  for (const Point& point : walk[axis]) {
    ForEachPoint(walk, visit,
                 {at.address + point.address, at.number + point.number, at.pad || point.pad},
                 axis + 1);
  }
}

// The resolved region of a run in one operand.
struct ResolvedRegion {
  const Operand* operand = nullptr;
  FixedRegion region;
  FixedRegion box;  // its begin and extent are used
  graph::Shape shape;
  int64_t base = 0;  // address of the box's first element, or of row 0 of the rolling buffer
  int64_t element_bytes = 1;
  int content = -1;
  problem::AddressRange buffer;  // the bytes that may be touched; empty: any

  bool Writes() const {
    return operand->part == Part::kOutput || operand->part == Part::kTo ||
           operand->part == Part::kScratch || operand->part == Part::kPartialSums;
  }
  execute::Box Box() const;

  // The element with that index of the tensor along an axis. Indices outside the tensor are in its
  // pads, next to the box.
  Point At(size_t axis, int64_t index) const;

  Walk Elements() const;                                         // of the box
  Walk ElementsAndPads() const;                                  // and of the pads next to it
  Walk Of(const std::vector<std::vector<int64_t>>& axes) const;  // of indices of the tensor

  // The same points, sorted so that neighbours in memory are adjacent.
  Walk Nearby(Walk walk) const;
};

// Opens regions of runs. Reports a fault in words if the region does not match its tensor, buffer
// or memory. The arguments must outlive it.
class Opener {
 public:
  Opener(const Plan& plan, const execute::Contents& contents, const TaggedMemories& memories)
      : plan_(plan), contents_(contents), memories_(memories) {}

  // Returns the fault; empty if there is none.
  std::string Open(const Job& job, const Run& run, size_t region, int phase,
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
// The arguments must outlive it.
class Performer {
 public:
  // `tell` is called for each fault, once per operand, with the end of a sentence that begins with
  // the run.
  Performer(const Plan& plan, const execute::Contents& contents, TaggedMemories& memories,
            const std::function<void(const std::string&)>& tell);

  // A run that moves or computes; `memories` are notified that it begins.
  void Perform(const Job& job, const Run& run, int phase);

  // The banks of the tile memory that the last run read, and wrote.
  execute::AccessRules::Banks ReadBanks() const { return read_banks_; }
  execute::AccessRules::Banks WrittenBanks() const { return written_banks_; }
  const execute::AccessRules& Rules() const { return rules_; }

 private:
  // A round of an operator that accumulates over K slices.
  struct SplitKRound {
    execute::Range k_extent;
    int64_t number = 0;
    bool last = false;
  };
  std::optional<SplitKRound> SplitKRoundOf(const Job& job, const Run& run) const;

  // For partial sums, the number of those that precede the rounds of the resolved region.
  int64_t FirstNumberOf(const ResolvedRegion& resolved) const;

  void Move(const Job& job, const std::vector<ResolvedRegion>& resolved_regions);
  void MoveBox(const ResolvedRegion& from, const ResolvedRegion& to);
  void CheckMemories(const Job& job, const ResolvedRegion& resolved);
  std::string EngineFor(const Job& job, const std::vector<ResolvedRegion>& resolved_regions) const;

  void Compute(const graph::Operator& op, const std::vector<ResolvedRegion>& resolved_regions);
  void CheckAllGiven(const graph::Operator& op, const std::vector<ResolvedRegion>& resolved_regions,
                     const execute::Box& made);
  void CheckOperand(const graph::Operator& op, const ResolvedRegion& resolved,
                    const execute::ElementSet& reads);
  void CheckPads(const graph::Operator& op, const ResolvedRegion& resolved,
                 const execute::ElementSet& reads);
  void ReadOperand(const graph::Operator& op, const ResolvedRegion& resolved,
                   const execute::Box& made);
  void ReadElement(const ResolvedRegion& resolved, const Point& point);
  void WriteResult(const graph::Operator& op, const ResolvedRegion& resolved);
  bool HasRoomForAChannel(const ResolvedRegion& result) const;
  bool MayReplace(const graph::Operator& op, execute::Tag old_tag, execute::Tag new_tag,
                  const ResolvedRegion& resolved) const;
  execute::ElementSet ReadsOf(const graph::Operator& op, Part part, size_t position,
                              const execute::Box& made) const;

  void BeginAnew(const ResolvedRegion& resolved);
  void WritePads(const ResolvedRegion& resolved);
  void ReadByte(const ResolvedRegion& resolved, int64_t byte);
  void WriteByte(const ResolvedRegion& resolved, int64_t byte, execute::Tag tag);
  void TellOnce(const std::string& fault);

  const Plan& plan_;
  const execute::Contents& contents_;
  TaggedMemories& memories_;
  const std::function<void(const std::string&)>& tell_;
  Opener opener_;
  execute::AccessRules rules_;
  // by byte of the tile memory; empty without banks
  std::vector<execute::AccessRules::Banks> bank_of_;
  execute::AccessRules::Banks read_banks_ = 0;
  execute::AccessRules::Banks written_banks_ = 0;
  int64_t scratch_bytes_ = 0;         // of the current operator
  bool told_ = false;                 // of the current operand
  std::optional<SplitKRound> round_;  // of the current run
};

}  // namespace tessera::plan::lowering

#pragma once

#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/elements.h"
#include "tessera/plan/lowering/evaluate.h"
#include "tessera/plan/lowering/tagged_memories.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/address.h"

namespace tessera::plan::lowering {

// An index along one axis, or a point of several: bytes behind the operand's base, and the row-major number of the element in its
// tensor, which means nothing in a pad.
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
    ForEachPoint(walk, visit, {at.address + point.address, at.number + point.number, at.pad || point.pad},
                 axis + 1);
  }
}

// What a run reaches of one operand.
struct Reach {
  const Operand* operand = nullptr;
  FixedRegion region;
  FixedRegion box;  // whose begin and extent count
  graph::Shape shape;
  int64_t base = 0;  // address of the box's first element, or of row 0 of the ring
  int64_t element_bytes = 1;
  int content = -1;
  problem::AddressRange buffer;  // the bytes that may be touched; empty: any

  bool Writes() const {
    return operand->part == Part::kOutput || operand->part == Part::kTo || operand->part == Part::kScratch ||
           operand->part == Part::kSums;
  }
  execute::Box Box() const;

  // The element of that index of the tensor along an axis; those outside the tensor are in its pads, beside the box.
  Point At(size_t axis, int64_t index) const;

  Walk Elements() const;                                         // of the box
  Walk ElementsAndPads() const;                                  // and of the pads beside it
  Walk Of(const std::vector<std::vector<int64_t>>& axes) const;  // of indices of the tensor

  // The same points, neighbours in memory one after the other.
  Walk Nearby(Walk walk) const;
};

// Opens regions of runs, with a fault in words where the region is of no such tensor, buffer or memory. All that it refers to outlives
// it.
class Opener {
 public:
  Opener(const Plan& plan, const execute::Contents& contents, const TaggedMemories& memories)
      : plan_(plan), contents_(contents), memories_(memories) {}

  // Gives the fault, empty if there is none.
  std::string Open(const Job& job, const Run& run, size_t region, int parity, Reach& reach) const;

 private:
  static bool FitsTensor(const Reach& reach);
  bool FindBuffer(const Spot& spot, Reach& reach) const;
  bool FitsMemory(const Reach& reach) const;

  const Plan& plan_;
  const execute::Contents& contents_;
  const TaggedMemories& memories_;
};

}  // namespace tessera::plan::lowering

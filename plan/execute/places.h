#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/execute/place.h"
#include "tessera/plan/execute/tile_boxes.h"
#include "tessera/plan/plan.h"

// Where the plan puts things: from buffers and offsets to places of elements (docs/program.md,
// "Inside a buffer").
namespace tessera::plan::execute {

// Steps of the plan, in the order in which they are executed: as long as something may take.
using Steps = std::vector<int64_t>;

// What somebody wants to do at a place, and when.
struct Intent {
  enum class By : uint8_t { kEngine, kLink };
  By by = By::kEngine;
  problem::AccessKind kind = problem::AccessKind::kRead;
  Steps steps;
};

// A part of a streamed operand: indices [begin, end) of those along `axis`, which are channels or
// depth.
struct Slice {
  size_t axis = 0;
  Range indices;
  int64_t granularity = 1;  // indices in a slice that is no last one
};

class Places {
 public:
  Places(const Plan& plan, const Contents& contents, const std::vector<Users>& users);

  // Tile buffers from here on are those of this subgraph, shaped for the largest parts.
  void EnterSubgraph(int subgraph, std::map<int, LargestPart> largest);

  // The index of the buffer that holds this, or -1.
  int BufferOf(const BufferUse& use) const;
  bool IsHeldInTiles(int tensor) const;  // in this subgraph, for any phase, or in a rolling buffer
  bool IsRollingBuffer(int tensor) const { return BufferOf(RollingBuffer(tensor)) >= 0; }
  bool HasLine(int tensor) const { return BufferOf(Line(tensor)) >= 0; }
  bool HasHalo(int tensor) const;  // of any phase
  bool IsResident(int constant) const { return BufferOf(Resident(constant)) >= 0; }
  bool IsPrefetched(int constant) const;  // for the next subgraph, while this one runs
  bool IsStreamed(int op, int tensor) const;
  bool IsWhole(int tensor) const { return BufferOf(Whole(tensor)) >= 0; }

  // A tensor that is no constant, as one tile of a phase sees it: its tile buffer, its rolling
  // buffer, the whole buffer, or its home. For engines that read, a tile buffer and the halo before
  // it are one place.
  Place OfTile(int tensor, int phase, const TilePart& part, const Intent& intent) const;

  // Where the rows that the tile keeps wait for it: the line, or the halo of its phase.
  Place OfKept(int tensor, int phase, const TilePart& part, const Intent& intent) const;

  // All of a tensor where it lies whole: in its whole buffer, or at home.
  Place OfWhole(int tensor, const Intent& intent) const;
  Place AtHome(int content, const Intent& intent) const;

  // A constant, or its table, in its resident buffer, that of the next subgraph, in a
  // slot, or where it lies whole.
  Place OfResident(int constant, const Intent& intent, bool table) const;
  Place OfPrefetched(int constant, const Intent& intent, bool table) const;
  Place OfSlice(int op, int constant, int phase, int slot, const Slice& slice, const Intent& intent,
                bool table) const;
  // An operand of an operator that adds up in K slices: what is held of it in a slot, and the part
  // of its table after the last slice.
  Place OfKSlice(int op, int tensor, const RunIndex& turn, const Slice& slice, const Box& held,
                 const Intent& intent) const;
  Place OfSplitKTable(int op, int constant, const RunIndex& turn, const Slice& slice,
                      const Range& channels, const Intent& intent) const;

  // Sums of a tile over the slices so far.
  Place OfPartialSums(int op, int phase, const Box& held, const Intent& intent) const;

  Place OfConstantWhole(int constant, const Intent& intent, bool table) const;

  std::optional<Place> OfScratch(int op, int phase, const Intent& intent) const;

  bool HasTable(int constant) const {
    return contents_.ShapeOf(contents_.TablesOf(constant)).front() > 0;
  }

  // The bytes of the table that stands with a constant where it is held for the operators of an
  // interval.
  int64_t TableBytesIn(int constant, graph::Interval interval) const;
  base::TensorRole RoleOf(int tensor) const;  // in this subgraph
  int HomeOf(int tensor) const;  // in this role, as an index into the profile's memories

 private:
  using Key = std::tuple<BufferKind, int, int, int, int, int>;

  static Key KeyOf(const BufferUse& use) {
    return {use.kind, use.subgraph, use.tensor, use.op, use.phase, use.slot};
  }
  // Stored around a tensor, along rows and columns.
  struct Pads {
    std::array<int64_t, 2> low = {0, 0};
    std::array<int64_t, 2> high = {0, 0};
  };

  BufferUse Tile(int tensor, int phase) const {
    return {BufferKind::kTile, subgraph_, tensor, -1, phase, 0};
  }
  BufferUse RollingBuffer(int tensor) const {
    return {BufferKind::kRollingBuffer, subgraph_, tensor, -1, 0, 0};
  }
  BufferUse Line(int tensor) const { return {BufferKind::kLine, subgraph_, tensor, -1, 0, 0}; }
  BufferUse Halo(int tensor, int phase) const {
    return {BufferKind::kHalo, subgraph_, tensor, -1, phase, 0};
  }
  static BufferUse Whole(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }
  BufferUse Resident(int constant) const {
    return {BufferKind::kResident, subgraph_, constant, -1, 0, 0};
  }
  BufferUse NextResident(int constant) const {
    return {BufferKind::kResident, subgraph_ + 1, constant, -1, 0, 0};
  }

  Place OfConstant(int buffer, int constant, const Intent& intent, bool table) const;

  Place InSlot(int op, int tensor, int content, const RunIndex& turn, const Intent& intent) const;
  Place InBuffer(int buffer, int content, const Intent& intent) const;
  void LayOut(Place& place, base::TensorRole role, const std::vector<int64_t>& extents,
              const Box& held, const Pads& pads) const;
  void CloseRollingBuffer(Place& place, const TilePart& part, int64_t rows) const;
  void JoinHalo(Place& place, int phase, const TilePart& part, const Intent& intent) const;
  void LayOutInOrder(Place& place, const Box& held) const;
  Pads PadsOf(int tensor, graph::Interval readers) const;
  std::string RefusalAtHome(int tensor, const Intent& intent) const;

  const Plan& plan_;
  const Contents& contents_;
  const std::vector<Users>& users_;
  std::map<Key, int> buffers_;
  const Subgraph& Current() const { return plan_.subgraphs[static_cast<size_t>(subgraph_)]; }
  LargestPart LargestOf(int tensor, const TilePart& part) const;

  int subgraph_ = -1;
  std::map<int, LargestPart> largest_;
};

}  // namespace tessera::plan::execute

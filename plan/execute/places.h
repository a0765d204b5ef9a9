// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/subgraph_residency.h"
#include "tessera/plan/verify/tiles.h"

// Where the plan puts things: from buffers and offsets to places of elements (docs/program.md,
// "Inside a buffer").
namespace tessera::plan::execute {

// Steps of the plan, in the order in which they are executed: as long as something may take.
using Steps = std::vector<problem::Step>;

// An access to a place, and its time.
struct Intent {
  enum class By : uint8_t { kEngine, kHost, kLink };
  By by = By::kEngine;
  problem::AccessKind kind = problem::AccessKind::kRead;
  Steps steps;
};

// Who an operator's accesses are by: the host, or another engine.
Intent::By ByOf(const Plan& plan, int op);

// Why engines, the host, or links, must not access tensors in a memory other than the tile memory;
// empty if they may.
std::string RefusalAtHome(const hw_profiles::Profile& profile, int home, Intent::By by,
                          problem::AccessKind kind);

// Cells from one index to the next along each axis, for extents whose axes have names: batches,
// rows, columns, and adjacent channels in blocks. Rows have their pitch.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& extents,
                               const hw_profiles::RoleLayout& layout, int64_t element_cells,
                               int64_t cells_per_byte);

// How many steps behind the base an index lies.
int64_t PositionOf(const AxisPlace& axis, int64_t index);

// A box that is written, and pads: those adjacent to it on each side where it ends with the place,
// even if it is empty there; those of a rolling buffer with the first row of all; those of a place
// that is padded around, all in its rows and columns along the axes that have any.
ElementSet WithPads(const Place& place, const Box& box);

class Places {
 public:
  // The arguments must outlive it, as those of EnterSubgraph.
  Places(const Plan& plan, const Contents& contents, const std::vector<verify::Users>& users);

  // Tile buffers from here on are those of this subgraph, shaped for its largest tiles.
  void EnterSubgraph(const verify::SubgraphResidency& here, const verify::TileMaxima& largest);

  bool IsWhole(int tensor) const { return BufferOf(Whole(tensor)) >= 0; }
  bool HasTable(int constant) const {
    return contents_.ShapeOf(contents_.TablesOf(constant)).front() > 0;
  }

  // A tensor that is no constant, as one tile of a phase sees it: its tile buffer, its rolling
  // buffer, the whole buffer, or its home. For engines that read, a tile buffer and the halo before
  // it are one place.
  Place OfTile(int tensor, int phase, const verify::Tile& tile, const Intent& intent) const;

  // Where the rows that the tile keeps wait for it: the line, or the halo of its phase.
  Place OfKept(int tensor, int phase, const verify::Tile& tile, const Intent& intent) const;

  // All of a tensor where it lies whole: in its whole buffer, or at home.
  Place OfWhole(int tensor, const Intent& intent) const;
  Place AtHome(int content, const Intent& intent) const;

  // A constant, or its table, in a buffer that holds all of it, or where it lies whole.
  Place OfConstant(const BufferUse& use, int constant, const Intent& intent, bool table) const;
  Place OfConstantWhole(int constant, const Intent& intent, bool table) const;

  // The part `held` of a streamed operand in the slot of the run; the part of a constant's table
  // that stands behind it.
  Place OfSlice(int op, int tensor, const RunIndex& run, const Box& held,
                const Intent& intent) const;
  Place OfSliceTable(int op, int constant, const RunIndex& run, const Range& bytes,
                     const Intent& intent) const;

  // Sums of a tile over the slices so far.
  Place OfPartialSums(int op, int phase, const Box& held, const Intent& intent) const;

  std::optional<Place> OfScratch(int op, int phase, const Intent& intent) const;

  // The memory where a tensor lies between subgraphs, as an index into the profile's memories.
  int HomeOf(int tensor) const { return verify::MemoryOf(plan_, tensor, RoleOf(tensor)); }

 private:
  static BufferUse Whole(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }
  int BufferOf(const BufferUse& use) const;   // or -1
  graph::Interval Current() const;            // empty outside subgraphs
  base::TensorRole RoleOf(int tensor) const;  // in this subgraph
  verify::Pads PadsOf(int tensor) const;      // in this subgraph
  std::vector<int64_t> LargestOf(int tensor, const Box& held) const;
  verify::RowTally RowsOf(int tensor) const;

  Place InSlot(int op, int tensor, int content, const RunIndex& run, const Intent& intent) const;
  Place InBuffer(int buffer, int content, const Intent& intent) const;
  void LayOut(Place& place, base::TensorRole role, const std::vector<int64_t>& extents,
              const Box& held, const verify::Pads& pads) const;
  void LayOutInOrder(Place& place, const Box& held) const;
  void JoinHalo(Place& place, int phase, const Range& kept, const Intent& intent) const;

  const Plan& plan_;
  const Contents& contents_;
  const std::vector<verify::Users>& users_;
  std::map<BufferUse, int> buffers_;
  const verify::SubgraphResidency* here_ = nullptr;
  const verify::TileMaxima* largest_ = nullptr;
};

}  // namespace tessera::plan::execute

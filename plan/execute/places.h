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
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// Converts the buffers and offsets of a plan to places of elements (docs/program.md, "Inside a
// buffer").
namespace tessera::plan::execute {

// The steps of the plan during which an access may happen, in the order in which they are executed.
using Steps = std::vector<problem::Step>;

// An access to a place, and its time.
struct Intent {
  enum class By : uint8_t { kEngine, kHost, kLink };
  By by = By::kEngine;
  problem::AccessKind kind = problem::AccessKind::kRead;
  Steps steps;
};

// Returns kHost if the host runs the operator, otherwise kEngine.
Intent::By ByOf(const Plan& plan, int op);

// Returns why the engines, the host or the links must not access tensors of a role in memory
// `home`, which is not the tile memory. The text is empty if they may.
std::string RefusalAtHome(const hw_profiles::Profile& profile, base::TensorRole role, int home,
                          Intent::By by, problem::AccessKind kind);

// Returns the cells from one index to the next along each axis of extents with named axes. The
// order is batch, rows, columns, and adjacent channels in blocks. Each row has the pitch of the
// layout.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& extents,
                               const hw_profiles::RoleLayout& layout, int64_t element_cells,
                               int64_t cells_per_byte);

// The number of steps from the base to an index.
int64_t PositionOf(const AxisPlace& axis, int64_t index);

// The elements of a written box together with the pads that are written with it. On each side on
// which the box ends with the place, these are the adjacent pads, even if the box is empty there.
// The pads of a rolling buffer are written with its first row. In a place with `padded_around` they
// are all pads in the rows and columns of the box, along the axes that have pads.
ElementSet WithPads(const Place& place, const Box& box);

class Places {
 public:
  // The arguments, and those of EnterSubgraph, must outlive it.
  Places(const Plan& plan, const Contents& contents, const std::vector<verify::Users>& users);

  // From this call on, tile buffers are those of this subgraph, shaped for its largest tiles.
  void EnterSubgraph(const verify::SubgraphResidency& here, const verify::TileMaxima& largest);

  bool IsWhole(int tensor) const { return BufferOf(Whole(tensor)) >= 0; }
  bool HasTable(int constant) const {
    return contents_.ShapeOf(contents_.TablesOf(constant)).front() > 0;
  }

  // The place of a tensor that is not a constant, for one tile of a phase: its tile buffer, its
  // rolling buffer, its whole buffer, or its home. For an engine that reads, a tile buffer and the
  // halo before it are one place.
  Place OfTile(int tensor, int phase, const verify::Tile& tile, const Intent& intent) const;

  // The place that holds the kept rows of the tile: the line buffer, or the halo buffer of its
  // phase.
  Place OfKept(int tensor, int phase, const verify::Tile& tile, const Intent& intent) const;

  // The place of a whole tensor: its whole buffer, or its home.
  Place OfWhole(int tensor, const Intent& intent) const;
  Place AtHome(int content, const Intent& intent) const;

  // The place of a constant, or of its table. OfConstant finds it in a buffer that holds the whole
  // constant, OfConstantWhole in its whole buffer or its home.
  Place OfConstant(const BufferUse& use, int constant, const Intent& intent, bool table) const;
  Place OfConstantWhole(int constant, const Intent& intent, bool table) const;

  // OfSlice returns the place of the part `held` of an operand that `user` streams, in the slot of
  // the run. OfSliceTable returns that of the part of a constant's table that follows it.
  Place OfSlice(const verify::SubgraphResidency& user, int op, int tensor, const RunIndex& run,
                const Box& held, const Intent& intent) const;
  Place OfSliceTable(const verify::SubgraphResidency& user, int op, int constant,
                     const RunIndex& run, const Range& bytes, const Intent& intent) const;

  // The partial sums of a tile over the slices so far.
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

  Place InSlot(const BufferUse& slot, int content, const Intent& intent) const;
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

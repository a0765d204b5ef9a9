// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

// The bytes of a subgraph that cross between the tile memory and the homes of its tensors
// (docs/program.md, "How each tensor is held"), and the number of contiguous runs.
namespace tessera::search::cost {

// How a tensor reaches the tile memory T.
enum class TransferKind : uint8_t {
  kInside,  // a tile buffer in T: made and read inside
  kWhole,   // its home is T, or it is kept there: not moved
  kMoved,   // DMA between its home and T
  kDirect,  // engines read or write it in its home
};

struct Route {
  TransferKind transfer = TransferKind::kInside;
  base::TensorRole role = base::TensorRole::kFeature;
  int home = 0;  // index into Profile::memories; T if it is kept there
};

// Returns the route of a tensor that is not a constant, for `interval` with these kept boundary
// tensors (encoder::program::Policy::kept).
Route RouteOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const graph::Usage& usage, int tensor, graph::Interval interval,
              const std::vector<int>& kept);

// Returns the transfer of constants under a policy. It is the same for all constants; their homes
// may differ.
TransferKind TransferOfConstants(const hw_profiles::Profile& profile,
                                 hw_profiles::WeightPolicy policy);

// Returns the homes of the interval's constants, as ascending indices into Profile::memories; the
// role's first home if the interval has no constants.
std::vector<int> HomesOfConstants(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                  graph::Interval interval);

// Returns the bytes of a region with these extents, with channels padded to the role's block and
// without the row pitch; 0 if an extent is 0.
int64_t PayloadBytes(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
                     const hw_profiles::RoleLayout& layout);

// Returns the extents of the rest of an operand of which `staying` indices along an axis are not
// moved.
inline graph::tiling::Extents WithoutStaying(graph::tiling::Extents extents, size_t axis,
                                             int64_t staying) {
  extents[axis] = std::max<int64_t>(0, extents[axis] - staying);
  return extents;
}

// The memory layout of a region in its home: `count` equal runs of adjacent bytes, reached through
// `loops` nested loops.
//
//     rows of  [columns][channels]        block 1: a tile of all columns is one run with its rows
//     rows of  [blocks][columns][block]   block 16: a tile of some columns is one run per row and
//                                         block
struct Runs {
  int64_t bytes = 0;  // of one run, or of one request for a part of it
  int64_t count = 0;
  std::vector<int64_t> loops;  // counts above 1, outermost first
};
Runs RunsOf(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
            const hw_profiles::RoleLayout& layout);

// Returns adjacent bytes as one run.
Runs OneRun(int64_t bytes);

// A constant that is loaded into the tile memory.
struct LoadedOnce {
  int tensor = -1;
  int home = 0;       // index into Profile::memories
  int64_t bytes = 0;  // with its tables
};

// Returns the distinct constants of the interval that the policy loads once, in order of first use.
// kResident loads all of them once.
std::vector<LoadedOnce> ConstantsLoadedOnce(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    hw_profiles::WeightPolicy policy = hw_profiles::WeightPolicy::kResident);

}  // namespace tessera::search::cost

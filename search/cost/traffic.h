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
// (docs/program.md, "What becomes of each tensor"), and the number of contiguous runs.
namespace tessera::search::cost {

// How a tensor reaches the tile memory T.
enum class TransferKind : uint8_t {
  kInside,  // a tile buffer in T: made and read inside
  kWhole,   // at home in T, or kept there: not moved
  kMoved,   // DMA between its home and T
  kDirect,  // engines read or write it in its home
};

struct Route {
  TransferKind transfer = TransferKind::kInside;
  base::TensorRole role = base::TensorRole::kFeature;
  int home = 0;  // index into Profile::memories; T if it is kept there
};

// The route of a feature tensor, network input or output, boundary tensor or state, as `interval`
// sees it with these kept boundary tensors (encoder::Policy::kept).
Route RouteOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const graph::Usage& usage, int tensor, graph::Interval interval,
              const std::vector<int>& kept);

// The transfer of constants under a policy: the same for all of them. Their homes may differ.
TransferKind TransferOfConstants(const hw_profiles::Profile& profile,
                                 hw_profiles::WeightPolicy policy);

// The homes of the interval's constants, as indices into Profile::memories, ascending; the role's
// first home if the interval has no constants.
std::vector<int> HomesOfConstants(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                  graph::Interval interval);

// Bytes of a region with these extents, channels padded to the role's block, without the row pitch;
// 0 if an extent is 0.
int64_t PayloadBytes(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
                     const hw_profiles::RoleLayout& layout);

// The rest of an operand of which `staying` indices along an axis are not moved.
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

// Adjacent bytes as one run.
Runs OneRun(int64_t bytes);

// A constant that is loaded into the tile memory.
struct LoadedOnce {
  int tensor = -1;
  int home = 0;       // index into Profile::memories
  int64_t bytes = 0;  // with its tables
};

// The distinct constants of the interval that the policy loads once, in order of first use. With
// kResident: all of them.
std::vector<LoadedOnce> ConstantsLoadedOnce(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    hw_profiles::WeightPolicy policy = hw_profiles::WeightPolicy::kResident);

}  // namespace tessera::search::cost

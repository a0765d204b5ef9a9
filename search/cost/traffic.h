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

// Which bytes of a subgraph cross between the tile memory and the homes of its tensors
// (docs/program.md, "What becomes of each tensor"), and in how many contiguous runs.
namespace tessera::search::cost {

// How a tensor meets the tile memory T.
enum class Passage : uint8_t {
  kInside,  // a tile buffer in T: made and read inside
  kWhole,   // at home in T, or kept there: nothing is moved
  kMoved,   // DMA between its home and T
  kDirect,  // engines read or write it in its home
};

struct Route {
  Passage passage = Passage::kInside;
  base::TensorRole role = base::TensorRole::kFeature;
  int home = 0;  // index into Profile::memories; T where it is kept there
};

// Of a feature tensor, network input or output, boundary tensor or state, seen from `interval`,
// where these boundary tensors are kept (encoder::Policy::kept).
Route RouteOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const graph::Usage& usage, int tensor, graph::Interval interval,
              const std::vector<int>& kept);

// Of constants under a policy: the same for all of them, but for their homes.
Passage PassageOfConstants(const hw_profiles::Profile& profile, hw_profiles::WeightPolicy policy);

// The homes of the interval's constants, as indices into Profile::memories, ascending; the role's
// first home where it has none.
std::vector<int> HomesOfConstants(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                  graph::Interval interval);

// Bytes of a region of that many elements along each axis, channels padded to the role's block, the
// row pitch left out; 0 when an extent is 0.
int64_t PayloadBytes(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
                     const hw_profiles::RoleLayout& layout);

// What is left of an operand of which so many indices along an axis stay where they are.
inline graph::tiling::Extents WithoutStaying(graph::tiling::Extents extents, size_t axis,
                                             int64_t staying) {
  extents[axis] = std::max<int64_t>(0, extents[axis] - staying);
  return extents;
}

// A region as it lies in its home: equal runs of adjacent bytes, `count` of them, reached through
// `loops` nested loops.
//
//     rows of  [columns][channels]          block 1: a tile of all columns is one run, rows and all
//     rows of  [blocks][columns][block]     block 16: a tile of some columns is a run for each row and block
struct Runs {
  int64_t bytes = 0;  // of one run
  int64_t count = 0;
  std::vector<int64_t> loops;  // counts above 1, outermost first
};
Runs RunsOf(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
            const hw_profiles::RoleLayout& layout);

// Bytes that are adjacent.
Runs OneRun(int64_t bytes);

// A constant on its way into the tile memory.
struct LoadedOnce {
  int home = 0;       // index into Profile::memories
  int64_t bytes = 0;  // with its tables
};

// Each distinct constant of the interval that the policy loads once, in order of first use. With
// kResident: all of them.
std::vector<LoadedOnce> ConstantsLoadedOnce(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    hw_profiles::WeightPolicy policy = hw_profiles::WeightPolicy::kResident);

}  // namespace tessera::search::cost
